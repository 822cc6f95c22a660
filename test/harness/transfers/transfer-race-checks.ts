import { expect } from 'vitest';
import type { OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { Json, TestApi } from '../api.ts';

// Invariants of transfers.

export interface RacingAccount {
  readonly id: string;
  readonly clientId: string;
  readonly ledgerNumber: string;
  readonly kind: 'built-in' | 'plug-in' | 'receiver';
  /** The money that came from outside, in minor units. */
  credited: number;
}

export interface Racing {
  readonly id: OutgoingTransferId;
  readonly account: RacingAccount;
  readonly incomingTransferId: string | null;
  readonly amountMinor: number;
}

const LEGAL_STORY =
  /^created( compliance-in-review)?( cancelled| failed| processing( failed| released( recall-rejected)*( failed| completed( returned| recall-rejected)*)))$/;

/** Its events are a legal sequence without gaps that ends in the transfer's status; each return is in it once. */
export async function checkStory(api: TestApi, id: string): Promise<void> {
  const rows = await api.database.reader.statement<{ first: number; entries: { type: string; data: Json }[] }>(
    'SELECT first_sequence::integer AS first, entries FROM events WHERE resource_id = $1 ORDER BY first_sequence',
    [id],
  );
  let next = 1;
  for (const { first, entries } of rows) {
    expect(first).toBe(next);
    next += entries.length;
  }
  const story = rows.flatMap(({ entries }) => entries.map(({ type }) => type.replace('outgoing-transfer-', '')));
  expect(story.join(' '), id).toMatch(LEGAL_STORY);
  const { status, returned, serviceProviderId } = (await api.call('GET', `/outgoing-transfers/${id}`)).body.data
    .outgoingTransfer;
  // Only who took a payment has an id for it, and a payment that it took and failed was released.
  if (status === 'failed' && serviceProviderId !== null) expect(story, id).toContain('released');
  expect(story.filter((type) => type !== 'recall-rejected').at(-1)).toBe(returned ? 'returned' : status);
  const times = (type: string) => story.filter((one) => one === type).length;
  expect(times('returned'), id).toBe((await returnsOf(api, id)).count);
  const [recall] = await api.database.reader.statement<{ number: number; isRejected: boolean }>(
    `SELECT recall_number AS number, recall_status IS NOT DISTINCT FROM 'rejected' AS "isRejected"
     FROM outgoing_transfers WHERE id = $1`,
    [id],
  );
  expect(times('recall-rejected'), id).toBeLessThanOrEqual(recall?.number ?? 0);
  if (recall?.isRejected) expect(times('recall-rejected'), id).toBeGreaterThan(0);
}

/** What came back, in minor units and number of returns. */
async function returnsOf(api: TestApi, id: string): Promise<{ readonly count: number; readonly amountMinor: number }> {
  const [found] = await api.database.reader.statement<{ count: number; amountMinor: number }>(
    `SELECT count(*)::integer AS count, coalesce(sum(amount_minor), 0)::integer AS "amountMinor"
     FROM incoming_transfers WHERE return_of = $1`,
    [id],
  );
  return found ?? { count: 0, amountMinor: 0 };
}

/** What each account has is what came, less what was paid with its fee, and more what came back or from within. */
export async function checkMoney(api: TestApi, accounts: readonly RacingAccount[]): Promise<void> {
  const expected = new Map(accounts.map(({ id, credited }) => [id, credited]));
  const add = (id: string, amountMinor: number) => {
    const before = expected.get(id);
    if (before !== undefined) expected.set(id, before + amountMinor);
  };
  for (const { id } of accounts) {
    for (const transfer of await listOf(api, id)) {
      if (transfer.status !== 'completed') continue;
      const amountMinor = minorOf(transfer.amount);
      const returned = await returnsOf(api, transfer.id);
      expect(returned.amountMinor, transfer.id).toBeLessThanOrEqual(amountMinor);
      add(id, returned.amountMinor - minorOf(transfer.totalAmount));
      if (transfer.scope === 'internal') add(transfer.destination.accountId, amountMinor);
    }
  }
  for (const { id } of accounts) {
    const [row] = await api.database.reader.statement<{ posted: number; reserved: number }>(
      'SELECT posted_minor::integer AS posted, reserved_minor::integer AS reserved FROM accounts WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ posted: expected.get(id), reserved: 0 });
  }
}

const minorOf = (amount: number): number => Math.round(amount * 100);

async function listOf(api: TestApi, accountId: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let page = 0; ; page += 1) {
    const query = `metadata.page.size=100&metadata.page.number=${page}&data.outgoingTransfer.accountId=${accountId}`;
    const { body } = await api.call('GET', `/outgoing-transfers?${query}`);
    found.push(...body.data.outgoingTransfers);
    if (body.data.outgoingTransfers.length < 100) return found;
  }
}
