import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import { FILE_OUTCOMES } from '../../../sandbox/file-bank/outcomes.ts';
import type { FileAccount, SandboxWorld } from './sandbox-world.ts';

export interface Paid {
  readonly id: string;
  readonly provider: string;
  /** The last two digits of its amount. */
  readonly digits: number;
}

/** Such an amount means nothing to the sandbox. */
const ORDINARY = 42;
/** Those that decide what happens to their whole file. */
const OF_THEIR_FILE = Object.entries(FILE_OUTCOMES).flatMap(([digits, { rename }]) =>
  rename === undefined ? [] : [Number(digits)],
);

/** What each of the bank's ends is to us: the status, and whether money has come back. */
const ENDS: Readonly<Record<string, { readonly status: string; readonly isReturned: boolean }>> = {
  completed: { status: 'completed', isReturned: false },
  rejected: { status: 'failed', isReturned: false },
  failed: { status: 'completed', isReturned: true },
  returned: { status: 'completed', isReturned: true },
};

/**
 * A payment of every outcome of the sandbox, at each account, until the bank has no more to tell: what it leaves open is settled by a lever,
 * its statement comes at midnight, and days pass.
 */

export async function everyOutcome(
  files: SandboxWorld,
  accounts: readonly { readonly account: FileAccount; readonly schemes: readonly string[] }[],
): Promise<readonly Paid[]> {
  const paid: Paid[] = [];
  const pay = async (digits: number) => {
    for (const { account, schemes } of accounts) {
      const scheme = schemes[digits % schemes.length];
      const id = await files.pay(account, (1_000 + digits) / 100, scheme === undefined ? {} : { scheme });
      paid.push({ id, provider: account.provider, digits });
    }
  };
  const all = [...Object.keys(FILE_OUTCOMES).map(Number), ORDINARY];
  for (const digits of all) if (!OF_THEIR_FILE.includes(digits)) await pay(digits);
  await files.round();
  for (const digits of OF_THEIR_FILE) {
    await pay(digits);
    await files.round();
  }
  await files.until('the bank has every payment', async () => {
    const found = await Promise.all(paid.map(({ id }) => files.findAtBank(id)));
    return found.includes(undefined) ? undefined : true;
  });
  // What is late by seconds, and what waits for a person at the bank.
  await files.moveClock({ advanceBy: 'PT15S' });
  for (const { id } of paid) {
    const { status } = await files.atBank(id);
    if (status === 'accepted' || status === 'released') await files.bank(`/payments/${paymentReferenceOf(id)}/settle`);
  }
  await rejectionsHeard(files, paid);
  // The next submission of what was rejected for a passing reason, the days' statements, and late returns.
  await files.moveClock({ advanceBy: 'P1D' });
  await files.round();
  await rejectionsHeard(files, paid);
  await files.moveClock({ advanceBy: 'P6D' });
  await files.bank('/end-of-day');
  return paid;
}

/** What the bank has rejected so far is rejected with us, by its latest submission. */
async function rejectionsHeard(files: SandboxWorld, paid: readonly Paid[]): Promise<void> {
  const attempts = `SELECT DISTINCT ON (transfer_id) transfer_id AS id, attempt, state FROM bank_instructions ORDER BY transfer_id, attempt DESC`;
  await files.until('each rejection is heard', async () => {
    const latest = new Map((await files.rows(attempts)).map((row) => [row.id, row]));
    const isHeard = async ({ id }: Paid) => {
      const { status, payment } = await files.atBank(id);
      const { state, attempt } = latest.get(id);
      // Where delivery releases, it is a failure.
      if (status === 'rejected') return ['rejected', 'failed'].includes(state) && attempt === payment.attempt;
      return state !== 'queued' && state !== 'assigned';
    };
    return (await Promise.all(paid.map(isHeard))).includes(false) ? undefined : true;
  });
}

/** Each payment comes to stand with us as the bank's books have it. */
export async function standAsAtBank(files: SandboxWorld, paid: readonly Paid[]): Promise<void> {
  const { ours, theirs } = await files.until(
    'the end of every payment',
    async () => {
      const both = await standing(files, paid);
      return isDeepStrictEqual(both.ours, both.theirs) ? both : undefined;
    },
    () => standing(files, paid),
  );
  expect(ours).toEqual(theirs);
}

async function standing(files: SandboxWorld, paid: readonly Paid[]) {
  const both = paid.map(async ({ id, provider, digits }) => {
    const { status } = await files.transfer(id);
    const isReturned = (await files.world.events(id)).includes('outgoing-transfer-returned');
    const key = `${provider} .${String(digits).padStart(2, '0')}`;
    return { key, ours: { status, isReturned }, theirs: ENDS[(await files.atBank(id)).status] };
  });
  const all = await Promise.all(both);
  return {
    ours: new Map(all.map(({ key, ours }) => [key, ours])),
    theirs: new Map(all.map(({ key, theirs }) => [key, theirs])),
  };
}
