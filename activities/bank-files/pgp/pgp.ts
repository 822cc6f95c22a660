import type { PgpSettings } from '../../../config/schema/file-exchange.ts';
import { open, seal } from './envelopes.ts';
import { type KeyStanding, openKeys, readKeyFiles, standingsOf } from './keys.ts';
import { loadOpenPgp, type OpenPgp } from './library.ts';

/** Wraps what goes to a bank, and unwraps what comes from it. Each throws PgpUnusable while our own side is not in order. */
export interface Pgp {
  /** The bytes that are sent: others each time, so a file is sealed once. */
  seal(content: Uint8Array): Promise<Buffer>;
  /** Throws UnreadableMessage, which names the rule that the file breaks. */
  open(bytes: Uint8Array): Promise<Buffer>;
  standings(now: Date): Promise<readonly KeyStanding[]>;
}

/** Key files are read when they are needed, so that a new key needs no new start; one that is bad stops no other bank. */
export function pgpWith(
  settings: PgpSettings,
  passphrase: string | null,
  load: () => Promise<OpenPgp> = loadOpenPgp,
): Pgp {
  // Opening a private key takes a good part of a second.
  let known: { readonly texts: string; readonly keys: ReturnType<typeof openKeys> } | null = null;
  const current = async () => {
    const library = await load();
    const files = await readKeyFiles(settings);
    const texts = JSON.stringify(files);
    if (known?.texts !== texts) known = { texts, keys: openKeys(library, files, passphrase ?? '') };
    return { library, keys: await known.keys };
  };
  return {
    seal: async (content) => {
      const { library, keys } = await current();
      return seal(library, keys, settings.outgoing, content);
    },
    open: async (bytes) => {
      const { library, keys } = await current();
      return open(library, keys, settings.incoming, bytes);
    },
    standings: async (now) => standingsOf((await current()).keys, now),
  };
}
