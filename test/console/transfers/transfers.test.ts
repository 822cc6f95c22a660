import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patchAccount } from '../../../db/accounts/accounts.ts';
import { newId } from '../../../db/common/ids.ts';
import { createWebhookSubscription } from '../../../db/webhooks/subscriptions.ts';
import { TESTER } from '../../harness/audit.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { TEST_KEYRING } from '../../harness/keyring.ts';
import { consentWorld } from '../../harness/parties/consents.ts';
import type { BrowserAnswer } from '../browser.ts';
import type { ConsoleCaller } from '../console-under-test.ts';
import { LATER, SIGNED_FROM, type TransferWorld, transferWorld } from './transfer-world.ts';

let stage: TransferWorld;
let viewer: ConsoleCaller;
let operator: ConsoleCaller;
let secondOperator: ConsoleCaller;
let approver: ConsoleCaller;
let admin: ConsoleCaller;

beforeAll(async () => {
  stage = await transferWorld('console-transfers');
  viewer = await stage.underTest.signIn('viewer');
  operator = await stage.underTest.signIn('operator');
  secondOperator = await stage.underTest.signIn('second-operator');
  approver = await stage.underTest.signIn('approver');
  admin = await stage.underTest.signIn('admin');
});

afterAll(async () => {
  await stage?.stop();
});

/** What a page says, without its elements. */
function wordsOf({ text }: BrowserAnswer): string {
  return text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const page = (id: string) => `/outgoing-transfers/${id}`;
const because = { reason: 'the client asked for it' };

describe('the page of a transfer', () => {
  test('shows a completed one with its steps and their times, both sides and its ledger entries', async () => {
    const paid = await stage.pay();
    const answer = await operator.get(page(paid.id));
    const words = wordsOf(answer);
    expect(answer.status, answer.text).toBe(200);
    expect(words).toMatch(/pending done 20.*processing done 20.*released done 20.*completed now 20/);
    expect(words).toContain('It waits for nothing');
    expect(words).toContain('£12.50 GBP');
    expect(answer.text).toContain(`href="/incoming-transfers/${paid.incomingTransferId}"`);
    expect(answer.text).toContain(`href="/accounts/${stage.account}"`);
    expect(words).toMatch(/Ledger entries Booked .* account other-account/);
    const other = await operator.get(`/incoming-transfers/${paid.incomingTransferId}`);
    expect(other.text).toContain(`href="${page(paid.id)}"`);
    expect(wordsOf(other)).toMatch(/pending done .* completed now/);
  });

  test('of one that waits says for what, until when in both zones, which conditions are met, and what is then', async () => {
    const later = await stage.pay({ transferDate: LATER });
    const words = wordsOf(await operator.get(page(later.id)));
    expect(words).toMatch(/pending now .* processing still ahead released still ahead completed still ahead/);
    expect(words).toContain('Or it ends as cancelled or failed.');
    expect(words).toMatch(/It waits for date Since \d{4}-.* UTC Until \d{4}-/);
    expect(words).toContain('authorization not needed');
    expect(words).toContain('date not yet met');
    expect(words).toContain(`the opening of its date, ${LATER}: then it continues.`);
    expect(words).not.toContain('npm run');
  });

  test('shows all but the workflow while Temporal does not answer', async () => {
    const later = await stage.pay({ transferDate: LATER });
    const answer = await operator.get(page(later.id));
    expect(answer.status).toBe(200);
    expect(wordsOf(answer)).toContain(`outgoing-transfer/${later.id} : not known, as Temporal does not answer.`);
  });

  test('shows the audit log, with person, role and reason, to an admin only', async () => {
    const later = await stage.pay({ transferDate: LATER });
    await operator.post(`${page(later.id)}/cancel`, because);
    const shown = wordsOf(await admin.get(page(later.id)));
    expect(shown).toContain('Olga Ladyzhenskaya (operator): cancelled, because “the client asked for it”');
    const hidden = wordsOf(await operator.get(page(later.id)));
    expect(hidden).not.toContain('Ladyzhenskaya (operator)');
    expect(hidden).toContain('Entries of the audit log (audit-entry) are shown to the role admin.');
  });

  test('hides the payee from a viewer, and shows them once, audited, for a reason', async () => {
    const paid = await stage.pay();
    expect((await viewer.get(page(paid.id))).text).not.toContain('Zephyrine');
    const shown = await viewer.post(`${page(paid.id)}/reveal`, because);
    expect(shown.text).toContain('Zephyrine');
    expect(await stage.audit(paid.id)).toContainEqual(expect.objectContaining({ action: 'revealed', role: 'viewer' }));
  });
});

describe('a remedy', () => {
  test('says in numbers what will happen, does it for a reason, and shows the new state', async () => {
    const later = await stage.pay({ amount: 250, transferDate: LATER });
    const before = wordsOf(await operator.get(`${page(later.id)}/cancel`));
    expect(before).toContain('The transfer of £250.00 GBP ends as cancelled, for good.');
    const done = await operator.post(`${page(later.id)}/cancel`, because);
    expect([done.status, done.headers.get('location')]).toEqual([303, page(later.id)]);
    expect(wordsOf(await operator.get(page(later.id)))).toMatch(/Done\. It is cancelled.* cancelled now/);
    const [entry] = await stage.audit(later.id);
    expect(entry).toMatchObject({ action: 'cancelled', actor: operator.personId, role: 'operator', ...because });
  });

  test('fails a transfer with the reason as its message', async () => {
    const later = await stage.pay({ transferDate: LATER });
    await operator.post(`${page(later.id)}/fail`, { reason: 'The payee has died' });
    const failed = await stage.find(later.id);
    expect(failed).toMatchObject({
      status: 'failed',
      statusReason: { code: 'operator.failed', message: 'The payee has died' },
    });
  });

  test('that is not possible is off, says why, and does nothing', async () => {
    const paid = await stage.pay();
    const words = wordsOf(await operator.get(page(paid.id)));
    expect(words).toMatch(/Cancel is off: .*completed/);
    expect(words).toContain('Restart its workflow is off: It has no workflow: nothing is under way for it.');
    expect(words).toContain('Resend webhooks is off: For the role admin.');
    const rejected = await operator.post(`${page(paid.id)}/cancel`, because);
    expect(rejected.status).toBe(409);
    expect((await stage.find(paid.id)).status).toBe('completed');
  });

  test('of two people at once happens once', async () => {
    const later = await stage.pay({ transferDate: LATER });
    const answers = await Promise.all(
      [operator, secondOperator].map((caller) => caller.post(`${page(later.id)}/cancel`, because)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(await stage.audit(later.id)).toHaveLength(1);
  });

  test('leaves a workflow as it is while Temporal is away, and says that it is not known', async () => {
    const later = await stage.pay({ transferDate: LATER });
    const done = await operator.post(`${page(later.id)}/restart-workflow-of-outgoing-transfer`, because);
    expect(done.status).toBe(303);
    expect(wordsOf(await operator.get(page(later.id)))).toContain('Not yet known. Temporal does not carry that out');
    expect(await stage.audit(`outgoing-transfer/${later.id}`)).toEqual([]);
  });

  test('resends the webhooks that have failed, each once, however many ask', async () => {
    const paid = await stage.pay();
    const failed = await failedDeliveries(paid.id, 3);
    expect(wordsOf(await admin.get(page(paid.id)))).toMatch(/Webhooks Event .*failed 3 500/);
    const remedy = `${page(paid.id)}/resend-webhooks-of-outgoing-transfer`;
    expect(wordsOf(await admin.get(remedy))).toContain('3 deliveries about it have failed for good.');
    const answers = await Promise.all([admin.post(remedy, because), admin.post(remedy, because)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const rows = await stage.api.database.reader.statement<{ status: string }>(
      'SELECT status FROM webhook_deliveries WHERE id = ANY ($1::uuid[])',
      [failed],
    );
    expect(rows.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
    const audited = await Promise.all(failed.map((id) => stage.audit(id)));
    expect(audited.map((entries) => entries.map(({ action }) => action))).toEqual(failed.map(() => ['retried']));
  });
});

/** Deliveries about a resource that were given up after three attempts. */
async function failedDeliveries(resourceId: string, count: number): Promise<string[]> {
  const { database } = stage.api;
  const { reader } = database;
  const given = {
    url: 'https://receiver.example/hook',
    modules: null,
    types: null,
    status: 'paused',
    description: null,
  } as const;
  const options = { secret: 'whsec_x', shards: 4, initiator: TESTER };
  const subscription = await database.transaction((tx) => createWebhookSubscription(tx, TEST_KEYRING, given, options));
  const ids = Array.from({ length: count }, () => newId());
  for (const [index, id] of ids.entries()) {
    await reader.statement(
      `INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, status, attempt_count,
         next_attempt_at, created_at, completed_at)
       VALUES ($1, $2, $3, $4, $5, 'transfers', 'outgoing-transfer-completed', 'failed', 3, now(), now(), now())`,
      [id, subscription.id, newId(), 1_000_000 + index, resourceId],
    );
    await reader.statement(
      'INSERT INTO webhook_attempts (delivery_id, number, attempted_at, duration_ms, response_code) VALUES ($1, 3, now(), 5, 500)',
      [id],
    );
  }
  return ids;
}

describe('a payment that needs a second signature', () => {
  const unsigned = () => stage.pay({ amount: SIGNED_FROM });

  test('stands under Approvals with its maker, payee and time, for an approver to sign', async () => {
    const pending = await unsigned();
    const words = wordsOf(await approver.get('/approvals'));
    expect(words).toContain(`Payment ${pending.transactionNumber}`);
    expect(words).toContain('£1,000.00 GBP');
    expect(words).toContain('operator (machine user)');
    expect(words).toContain('then it moves to the next open date, or fails after too many moves');
    expect(wordsOf(await operator.get('/approvals'))).toContain('For the role approver.');
    const signed = await approver.post(`${page(pending.id)}/authorize`, because);
    expect(signed.status, signed.text).toBe(303);
    expect((await stage.find(pending.id)).status).toBe('completed');
    const [entry] = await stage.audit(pending.id);
    expect(entry).toMatchObject({ action: 'authorized', actor: approver.personId, role: 'approver' });
  });

  test('cannot be signed by the person who made it, who is told so', async () => {
    const pending = await unsigned();
    await stage.api.database.reader.statement('UPDATE outgoing_transfers SET created_by = $2 WHERE id = $1', [
      pending.id,
      approver.personId,
    ]);
    expect(wordsOf(await approver.get('/approvals'))).toContain('Yours: another person must sign.');
    const answer = await approver.post(`${page(pending.id)}/authorize`, because);
    expect([answer.status, wordsOf(answer)]).toEqual([
      409,
      expect.stringContaining('you created or reviewed the transfer'),
    ]);
    expect((await stage.find(pending.id)).status).toBe('pending');
  });

  test('is rejected by an approver with a reason; afterwards there is nothing to sign', async () => {
    const pending = await unsigned();
    expect((await approver.post(`${page(pending.id)}/reject-authorization`, because)).status).toBe(303);
    expect((await stage.find(pending.id)).status).toBe('cancelled');
    expect((await approver.post(`${page(pending.id)}/authorize`, because)).status).toBe(409);
    expect(await stage.audit(pending.id)).toMatchObject([{ action: 'rejected', ...because }]);
  });

  test('an approver rejects only what waits for a signature', async () => {
    const later = await stage.pay({ transferDate: LATER });
    expect((await approver.post(`${page(later.id)}/reject-authorization`, because)).status).toBe(409);
    expect((await approver.post(`${page(later.id)}/cancel`, because)).status).toBe(403);
    expect((await stage.find(later.id)).status).toBe('pending');
  });

  test('signed and cancelled at once is one or the other', async () => {
    const pending = await Promise.all(Array.from({ length: 4 }, unsigned));
    for (const { id } of pending) {
      const [signed, cancelled] = await Promise.all([
        approver.post(`${page(id)}/authorize`, because),
        operator.post(`${page(id)}/cancel`, because),
      ]);
      expect([signed.status, cancelled.status].sort()).toEqual([303, 409]);
      expect((await stage.find(id)).status).toBe(signed.status === 303 ? 'completed' : 'cancelled');
      expect(await stage.audit(id)).toHaveLength(1);
    }
  });
});

describe('lists of transfers', () => {
  test('find by each filter what has it, and nothing else, newest first, on every page', async () => {
    const mine = await stage.world.account(stage.client, { amount: 500 });
    const paid = [];
    for (let count = 0; count < 3; count += 1) paid.push(await stage.pay({ amount: count + 1, from: mine }));
    const later = await stage.pay({ from: mine, transferDate: LATER });
    const numbersIn = ({ text }: BrowserAnswer) =>
      [...text.matchAll(/class="id" href="[^"]+">([^<]+)</g)].map(([, n]) => n);
    const list = async (query: string) => numbersIn(await operator.get(`/outgoing-transfers?${query}`));
    const all = [later, ...paid.reverse()].map(({ transactionNumber }) => transactionNumber);
    expect(await list(`account=${mine}`)).toEqual(all);
    expect(await list(`account=${mine}&status=completed`)).toEqual(all.slice(1));
    expect(await list(`account=${mine}&waiting-for=date`)).toEqual(all.slice(0, 1));
    expect(await list(`from=${LATER}&to=${LATER}`)).toContain(later.transactionNumber);
    expect(await list('currency=EUR')).toEqual([]);
    expect((await list('currency=GBP')).slice(0, 4)).toEqual(all);
    expect((await list('provider=custom-bank&status=completed')).slice(0, 3)).toEqual(all.slice(1));
    expect(await list('provider=another-bank')).toEqual([]);
    const exported = await operator.get(`/outgoing-transfers?account=${mine}&format=csv`);
    expect(
      exported.text
        .split('\n')
        .slice(1, 5)
        .map((line) => line.split(',')[0]),
    ).toEqual(all);
    const wrong = await operator.get('/outgoing-transfers?account=x');
    expect(wordsOf(wrong)).toContain('Account id is no id: it is a UUID.');
  });

  test('by counted ranges find the same, across their borders', async () => {
    const { reader } = stage.api.database;
    const before = await operator.get('/outgoing-transfers?currency=GBP&format=csv');
    for (let counted = 1; counted > 0; ) {
      const [row] = await reader.statement<{ looked: number }>(
        `SELECT count_transfers('outgoing', 1000) + count_transfers('incoming', 1000) AS looked`,
        [],
      );
      counted = row?.looked ?? 0;
    }
    const after = await operator.get('/outgoing-transfers?currency=GBP&format=csv');
    expect(after.text).toBe(before.text);
    expect(before.text.split('\n').length).toBeGreaterThan(10);
  });
});

describe('what waits', () => {
  test('is summed by kind and age, and listed with the longest wait first', async () => {
    const poor = await stage.world.account(stage.client, { amount: 3 * SIGNED_FROM });
    const spent = await stage.pay({ amount: 3 * SIGNED_FROM, from: poor });
    const first = await stage.pay({ amount: SIGNED_FROM, from: poor });
    const second = await stage.pay({ amount: SIGNED_FROM + 1, from: poor });
    for (const { id } of [spent, first, second]) await approver.post(`${page(id)}/authorize`, because);
    const answer = await operator.get(`/waiting?account=${poor}`);
    expect(wordsOf(answer)).toMatch(/outgoing, balance money 2 £2,001\.00 GBP 0 0/);
    expect(answer.text.indexOf(first.transactionNumber)).toBeLessThan(answer.text.indexOf(second.transactionNumber));
    expect(answer.text.indexOf(first.transactionNumber)).toBeGreaterThan(0);
    for (const filter of ['on=money', 'waiting-for=balance', 'what=outgoing', 'currency=GBP', 'scheme=internal']) {
      expect((await operator.get(`/waiting?account=${poor}&${filter}`)).text).toContain(first.transactionNumber);
    }
    for (const filter of ['on=bank', 'waiting-for=date', 'what=incoming', 'currency=EUR', 'older=1%20hour']) {
      const none = await operator.get(`/waiting?account=${poor}&${filter}`);
      expect(none.text, filter).not.toContain(first.transactionNumber);
      expect(wordsOf(none)).toContain('Nothing waits like this.');
    }
  });

  test('is also an account that its bank has to open or close, and a consent that its account holder has to answer', async () => {
    const { api, world } = stage;
    const client = await world.client('Ada');
    const opening = await builtInAccounts(api).issued(client);
    const closing = await builtInAccounts(api).opened(client);
    await api.database.transaction((tx) => patchAccount(tx, closing.id, { status: 'closed' }, TESTER));
    const consents = consentWorld(api);
    const consent = await consents.request(await consents.thirdParty());
    const all = await operator.get('/waiting');
    for (const id of [opening.id, closing.id, consent.id]) expect(all.text).toContain(id);
    const accounts = await operator.get(`/waiting?what=account&client=${client}`);
    expect(wordsOf(accounts)).toMatch(/account, provider bank 2 – 0 0/);
    expect(accounts.text).not.toContain(consent.id);
    const holders = await operator.get('/waiting?what=consent&waiting-for=account-holder&on=person');
    expect(wordsOf(holders)).toMatch(/consent, account-holder person 1 – 0 0/);
    expect(holders.text).toContain(`/consents/${consent.id}`);
    for (const none of ['what=account&scheme=swift', 'what=consent&provider=sandbox-bank', 'what=account&on=money'])
      expect(wordsOf(await operator.get(`/waiting?${none}`)), none).toContain('Nothing waits like this.');
    expect((await viewer.get(`/waiting?what=account&client=${client}`)).text).not.toContain(opening.ledgerNumber);
  });
});
