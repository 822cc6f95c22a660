import { createHash } from 'node:crypto';
import { stringify } from 'lossless-json';
import * as v from 'valibot';
import { ProviderUnavailable } from './port.ts';
import { STATEMENT_ENTRY_KINDS, type StatementEntry, type StatementPage } from './ports/statement-port.ts';
import { instant, maybeProviderId, one, ourReference, providerId } from './ports/texts.ts';
import { MONEY, minorOf, REFERENCE_MAX } from './sandbox-bank-wire.ts';

/** A page as the sandbox bank sends it. Entries are parsed one by one, so that an unreadable one hides no other. */
export const STATEMENT = v.object({ entries: v.array(v.unknown()), next: maybeProviderId(REFERENCE_MAX) });

const ENTRY = v.object({
  entryId: providerId(),
  bookedAt: instant(),
  kind: v.picklist(STATEMENT_ENTRY_KINDS),
  direction: v.picklist(['debit', 'credit']),
  ...MONEY,
  paymentId: providerId(),
  ourReference: v.nullable(ourReference()),
  account: v.optional(v.nullable(ourReference()), null),
});

/** Entries in a currency that was not requested count as unreadable: no compared position contains them. */
export function readEntries(entries: readonly unknown[], currency: string): Omit<StatementPage, 'next'> {
  const readable: StatementEntry[] = [];
  const unreadable: string[] = [];
  for (const entry of entries) {
    const read = readEntry(entry);
    if (read?.currency === currency) readable.push(read);
    else unreadable.push(nameOf(entry));
  }
  return { entries: readable, unreadable };
}

function readEntry(entry: unknown): StatementEntry | null {
  const { success, output } = v.safeParse(ENTRY, entry);
  if (!success) return null;
  const { entryId, bookedAt, kind, direction, currency, paymentId: serviceProviderId, ourReference } = output;
  try {
    const amountMinor = minorOf(output);
    const accountId = output.account;
    return { entryId, bookedAt, kind, direction, amountMinor, currency, serviceProviderId, ourReference, accountId };
  } catch (error) {
    if (error instanceof ProviderUnavailable) return null;
    throw error;
  }
}

const NAMED = v.object({ entryId: one((id) => /^[\w-]{1,100}$/.test(id)) });

/** Stable for the same entry, and without its other fields, which may be personal data. */
function nameOf(entry: unknown): string {
  const named = v.safeParse(NAMED, entry);
  if (named.success) return named.output.entryId;
  return `sha256:${createHash('sha256')
    .update(stringify(entry) ?? '')
    .digest('hex')}`;
}
