import type { Reader } from '../db/client.ts';
import { readClock } from '../db/clock.ts';
import {
  listBooked,
  listCurrencies,
  listOpenDifferences,
  type Position,
  readComparison,
  readStandings,
  recordDifference,
  resolveDifference,
  saveComparison,
} from '../db/reconciliation.ts';
import { type Difference, differenceOf, type PaymentKey, type Standing } from '../domain/reconciliation.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { CallOptions, Provider, StatementEntry } from './providers/port.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'logger'>;

/** Payments younger than this may still be on their way between the two books. */
const SETTLED_AGE_MS = 5 * 60_000;
/** How far back the first comparison of a position goes. */
const FIRST_WINDOW_MS = 7 * 24 * 3_600_000;
const PAGE = 500;
const OPEN_DIFFERENCES_MAX = 1_000;

export interface Compared {
  readonly payments: number;
  /** Not known before. */
  readonly differences: number;
  /** Known, and gone by now. */
  readonly resolved: number;
}

/**
 * Compares the statement of each provider and currency with our books, payment by payment, from where the last comparison
 * ended. Differences are recorded once, for a person; nothing is posted. One that is gone by itself is resolved.
 */
export async function compareStatements(
  dependencies: Dependencies,
  call: CallOptions,
  settledAgeMs = SETTLED_AGE_MS,
): Promise<Compared> {
  const { reader } = dependencies.database;
  let sum: Compared = { payments: 0, differences: 0, resolved: 0 };
  for (const [code, provider] of dependencies.providers) {
    for (const currency of await listCurrencies(reader, code)) {
      const until = new Date((await readClock(reader)).getTime() - settledAgeMs);
      const compared = await comparePosition(dependencies, provider, { provider: code, currency }, until, call);
      sum = {
        payments: sum.payments + compared.payments,
        differences: sum.differences + compared.differences,
        resolved: sum.resolved + compared.resolved,
      };
    }
  }
  return sum;
}

async function comparePosition(
  { database: { reader }, logger }: Dependencies,
  provider: Provider,
  position: Position,
  until: Date,
  call: CallOptions,
): Promise<Compared> {
  const last = await readComparison(reader, position);
  const from = last?.comparedUntil ?? new Date(until.getTime() - FIRST_WINDOW_MS);
  if (from >= until) return { payments: 0, differences: 0, resolved: 0 };

  const resolved = await resolveGone(reader, provider, position, call);
  const told = await readStatement(provider, { currency: position.currency, from, to: until }, call);
  const suspects = await suspectsOfStatement(reader, position, told);
  const booked = await suspectsOfBooks(reader, position, told, { after: last?.postingId ?? 0n, from, until });
  let differences = 0;
  for (const key of [...suspects, ...booked.suspects]) {
    const difference = await lookAgain(reader, provider, position, key, told.get(textOf(key))?.standing ?? null, call);
    if (difference === null || !(await recordDifference(reader, position, key, difference))) continue;
    differences += 1;
    logger.error({ ...position, ...key, difference }, 'the provider’s statement and our books differ');
  }
  await saveComparison(reader, position, { comparedUntil: until, postingId: booked.postingId });
  const payments = told.size + booked.suspects.length;
  if (payments + resolved > 0) logger.info({ ...position, payments, differences, resolved }, 'statement compared');
  return { payments, differences, resolved };
}

/** What a statement says of each payment, by `textOf` its key. */
export type Told = ReadonlyMap<string, { readonly key: PaymentKey; readonly standing: Standing }>;

/** Reads a time of the statement to its end. Of several entries of one payment the last tells how it stands. */
export async function readStatement(
  provider: Provider,
  range: { readonly currency: string; readonly from: Date; readonly to: Date },
  call: CallOptions,
): Promise<Told> {
  const told = new Map<string, { key: PaymentKey; standing: Standing }>();
  for (let after: string | undefined; ; ) {
    const page = await provider.fetchStatement({ ...range, after }, call);
    for (const entry of page.entries) {
      const key = keyOf(entry);
      const moved = entry.kind === 'payment-out' || entry.kind === 'payment-in';
      told.set(textOf(key), { key, standing: { amountMinor: entry.amountMinor, moved } });
    }
    if (page.next === null) return told;
    after = page.next;
  }
}

function keyOf({ kind, serviceProviderId, ourReference }: StatementEntry): PaymentKey {
  if (kind === 'payment-in' || kind === 'payment-in-sent-back')
    return { direction: 'in', reference: serviceProviderId };
  return { direction: 'out', reference: ourReference ?? serviceProviderId };
}

function textOf({ direction, reference }: PaymentKey): string {
  return `${direction} ${reference}`;
}

/** Payments of the statement that our books have otherwise, or not at all. */
async function suspectsOfStatement(reader: Reader, position: Position, told: Told): Promise<PaymentKey[]> {
  const suspects: PaymentKey[] = [];
  for (const direction of ['in', 'out'] as const) {
    const payments = [...told.values()].filter(({ key }) => key.direction === direction);
    for (let start = 0; start < payments.length; start += PAGE) {
      const page = payments.slice(start, start + PAGE);
      const references = page.map(({ key }) => key.reference);
      const ours = await readStandings(reader, position, direction, references);
      for (const { key, standing } of page) {
        if (differenceOf(standing, ours.get(key.reference) ?? null) !== null) suspects.push(key);
      }
    }
  }
  return suspects;
}

/** Payments that our books moved in the time, and the statement of that time does not show. */
async function suspectsOfBooks(
  reader: Reader,
  position: Position,
  told: Told,
  range: { readonly after: bigint; readonly from: Date; readonly until: Date },
): Promise<{ suspects: PaymentKey[]; postingId: bigint }> {
  const suspects = new Map<string, PaymentKey>();
  let postingId = range.after;
  for (;;) {
    const page = await listBooked(reader, position, { ...range, after: postingId, limit: PAGE });
    for (const { direction, reference } of page) {
      const key = { direction, reference };
      if (reference !== '' && !told.has(textOf(key))) suspects.set(textOf(key), key);
    }
    postingId = page.at(-1)?.postingId ?? postingId;
    if (page.length < PAGE) return { suspects: [...suspects.values()], postingId };
  }
}

/** The two books of one payment as they are now: what was on its way may have arrived. */
async function lookAgain(
  reader: Reader,
  provider: Provider,
  position: Position,
  key: PaymentKey,
  told: Standing | null,
  call: CallOptions,
): Promise<Difference | null> {
  const there = await lookUp(provider, key, call);
  const ours = await readStandings(reader, position, key.direction, [key.reference]);
  // An answer to a look-up tells no amount of a payment out; the statement did.
  const standing = there === null ? null : { ...there, amountMinor: there.amountMinor ?? told?.amountMinor ?? null };
  return differenceOf(standing, ours.get(key.reference) ?? null);
}

async function lookUp(provider: Provider, key: PaymentKey, call: CallOptions): Promise<Standing | null> {
  if (key.direction === 'in') {
    const payment = await provider.lookUpPaymentIn(key.reference, call);
    if (payment.outcome === 'not-found') return null;
    return { amountMinor: payment.amountMinor, moved: !payment.sentBack };
  }
  const { outcome } = await provider.lookUpPayment(key.reference, call);
  if (outcome === 'not-found') return null;
  return { amountMinor: null, moved: outcome === 'accepted' || outcome === 'completed' };
}

async function resolveGone(reader: Reader, provider: Provider, position: Position, call: CallOptions): Promise<number> {
  let resolved = 0;
  for (const { id, ...key } of await listOpenDifferences(reader, position, OPEN_DIFFERENCES_MAX)) {
    const { direction, reference, difference } = key;
    // An amount that differed once stays for a person: a look-up of a payment out cannot tell that it does no more.
    if (difference === 'statement-amount-differs') continue;
    if ((await lookAgain(reader, provider, position, { direction, reference }, null, call)) !== null) continue;
    await resolveDifference(reader, id);
    resolved += 1;
  }
  return resolved;
}
