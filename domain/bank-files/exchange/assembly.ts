import type { BankProfile } from '../profiles.ts';

/** When a payment goes into a file, and how many go with it. */
export interface AssemblyRules extends Pick<BankProfile, 'payeeCheck'> {
  readonly files: 'at-once' | 'per-window';
  readonly windowSeconds: number;
  readonly paymentsPerFileMax: number;
}

/** A payment that waits for its file. */
interface Queued {
  /** The same for all payments from one account. */
  readonly accountKey: string;
  readonly scheme: string;
  readonly queuedAt: Date;
}

/**
 * The files to be written now, each of one account, its payments by scheme: a batch for each. What comes later is left for the next look.
 * Where the bank's payee check is opted out of, a batch of one cannot be: it waits for company until its window ends.
 */
export function dueFiles<Payment extends Queued>(
  queued: readonly Payment[],
  rules: AssemblyRules,
  now: Date,
): Payment[][][] {
  const byAccount = grouped(queued, ({ accountKey }) => accountKey);
  return byAccount.flatMap((ofAccount) => {
    const batches = grouped(ofAccount, ({ scheme }) => scheme).filter((batch) => isDue(batch, rules, now));
    return filesOf(batches, rules.paymentsPerFileMax);
  });
}

function isDue(batch: readonly Queued[], rules: AssemblyRules, now: Date): boolean {
  if (batch.length >= rules.paymentsPerFileMax) return true;
  const waits = rules.files === 'per-window' || (rules.payeeCheck === 'opted-out' && batch.length === 1);
  if (!waits) return true;
  const oldest = Math.min(...batch.map(({ queuedAt }) => queuedAt.getTime()));
  return oldest + rules.windowSeconds * 1_000 <= now.getTime();
}

/** Splits batches that are too large evenly, so that none is left alone. */
function filesOf<Payment>(batches: readonly Payment[][], max: number): Payment[][][] {
  const files: Payment[][][] = [];
  let file: Payment[][] = [];
  let room = max;
  for (const batch of batches.flatMap((whole) => evenParts(whole, max))) {
    if (batch.length > room) {
      files.push(file);
      file = [];
      room = max;
    }
    file.push(batch);
    room -= batch.length;
  }
  if (file.length > 0) files.push(file);
  return files;
}

function evenParts<Item>(items: readonly Item[], max: number): Item[][] {
  const count = Math.ceil(items.length / max);
  return Array.from({ length: count }, (_, index) =>
    items.slice(Math.floor((index * items.length) / count), Math.floor(((index + 1) * items.length) / count)),
  );
}

/** Items of one key together, in the order of their first. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
