import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { isCountry } from '../../domain/common/parties/countries.ts';
import { checkText } from '../../domain/common/parties/names.ts';

const path = v.pipe(v.string('must be a path'), v.check(isAbsolute, 'must be an absolute path'));
const remotePath = v.pipe(v.string('must be a path'), v.minLength(1, 'must be a path'));

function whole(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(minimum, message), v.maxValue(maximum, message));
}

function text(lengthMax: number) {
  return v.pipe(
    v.string('must be text'),
    v.check((value) => typeof checkText(value, lengthMax) !== 'string', `must be plain text of at most ${lengthMax}`),
  );
}

/** Where files lie: `out` for those that we deliver, `in` for the bank's, `archive` for the bank's that we hold. */
const folder = v.strictObject({ kind: v.literal('folder'), out: path, in: path, archive: path });

const HOST_KEY = /^SHA256:[A-Za-z0-9+/]{43}$/;

const sftp = v.strictObject({
  kind: v.literal('sftp'),
  host: text(253),
  port: v.optional(whole(1, 65_535), 22),
  user: text(100),
  /** As `ssh-keygen -l` prints them: the bank's present key, and the next one before it changes. */
  hostKeys: v.pipe(
    v.array(v.pipe(v.string(), v.regex(HOST_KEY, 'must be SHA256: and 43 characters, as ssh-keygen -l prints it'))),
    v.minLength(1, 'must name a key'),
  ),
  /** Networks in which the server's address must be, such as 192.0.2.0/24; null: any. */
  addresses: v.optional(
    v.nullable(v.array(v.pipe(v.string(), v.check(isNetwork, 'must be a network, such as 192.0.2.0/24')))),
    null,
  ),
  /** An OpenSSH private key, encrypted by the passphrase of SFTP_PASSPHRASE. */
  privateKeyFile: path,
  out: remotePath,
  in: remotePath,
  archive: remotePath,
});

/** Keys are files, as OpenPGP programs export them (`-----BEGIN PGP …`). */
const pgp = v.strictObject({
  /** Ours, each encrypted by the passphrase of PGP_PASSPHRASE: the first signs, and each opens what the bank has encrypted for it. */
  privateKeyFiles: v.pipe(v.array(path), v.minLength(1, 'must name a key')),
  /** The bank's: its present key, and the next one before it changes. */
  bankKeyFiles: v.pipe(v.array(path), v.minLength(1, 'must name a key')),
  outgoing: v.optional(
    v.picklist(['signed', 'encrypted', 'signed-and-encrypted'], 'must be signed, encrypted or signed-and-encrypted'),
    'signed-and-encrypted',
  ),
  /** `signed`: a file that the bank has not signed is set aside. `any`: what is signed must be the bank's, and plain files are taken. */
  incoming: v.optional(v.picklist(['signed', 'any'], 'must be signed or any'), 'signed'),
});

function isNetwork(value: string): boolean {
  const [address = '', prefix = ''] = value.split('/');
  const family = isIP(address);
  return family !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

const transport = v.variant('kind', [folder, sftp], 'must be folder or sftp');

/** How files are exchanged with a bank: a provider with this setting pays by ISO 20022 files. */
export const fileExchange = v.strictObject({
  /** The name of a profile in config/bank-profiles. */
  profile: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes')),
  /** Who sends the files, and pays. `id` is what the bank calls it. */
  party: v.strictObject({
    name: text(70),
    id: v.optional(v.nullable(text(35)), null),
    country: v.pipe(v.string(), v.check(isCountry, 'must be an ISO 3166-1 alpha-2 code')),
  }),
  /** `at-once`: as soon as a payment is due. `per-window`: one file for what became due within `windowSeconds`. */
  files: v.optional(v.picklist(['at-once', 'per-window'], 'must be at-once or per-window'), 'at-once'),
  windowSeconds: v.optional(whole(0, 86_400), 0),
  paymentsPerFileMax: v.optional(whole(1, 10_000), 1_000),
  pollSeconds: v.optional(whole(1, 3_600), 15),
  /** How long after a day (UTC) its camt.053 may take, in hours; by default a day. Later than that it is missing, which is an alarm. */
  statementHours: v.optional(whole(1, 240)),
  transport,
  /** Signed and encrypted files (OpenPGP); without it files are as they are. */
  pgp: v.optional(v.nullable(pgp)),
});

export type FileExchange = v.InferOutput<typeof fileExchange>;
export type FolderSettings = v.InferOutput<typeof folder>;
export type PgpSettings = v.InferOutput<typeof pgp>;
export type SftpSettings = v.InferOutput<typeof sftp>;
