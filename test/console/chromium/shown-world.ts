import { createRemedyList } from '../../../db/approvals/remedy-lists.ts';
import { newId } from '../../../db/common/ids.ts';
import type { PersonId } from '../../../domain/common/ids.ts';
import type { Json, TestApi } from '../../harness/api.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { moneyWorld } from '../../harness/money.ts';
import { consentWorld } from '../../harness/parties/consents.ts';
import { reviews } from '../../harness/transfers/reviews.ts';
import { sequence, subscribe } from '../../harness/webhooks/webhooks.ts';
import { makeConsoleWorld } from '../console-world.ts';

/** What no space can break: an account holder of Wales, a payer of Bavaria, a message without a space. */
const LONG_NAME = 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch Ltd';
const LONG_TEXT = 'RechnungNr20261126OhneLeerzeichenUndMitSehrVielenWörternDieNiemandTrennt';

/** Something for every page, with texts as long as they come; the ids by the paths of their pages. A list waits that `maker` has frozen. */
export async function makeShownWorld(api: TestApi, maker: PersonId): Promise<Readonly<Record<string, string>>> {
  const { ids, client } = await makeConsoleWorld(api);
  const world = moneyWorld(api);
  const review = reviews(api);
  const company = await world.client(LONG_NAME);
  const account = { id: await world.account(company, { amount: 48_250.75 }), clientId: company };
  const beneficiary = await world.beneficiary(company);
  for (const amount of [12, 340.5, 9_999.99]) await review.external(account, beneficiary, { amount });
  const waits = await review.external(account, beneficiary, { amount: 15_000, description: LONG_TEXT });

  const bank = builtInAccounts(api);
  const receiver = await bank.opened(client);
  await bank.payIn(receiver, newId(), 125_000n);
  const payer = { senderName: LONG_NAME, remittanceText: LONG_TEXT };
  const unmatched = await review.payIn({ amountMinor: 84_215n, ...payer });
  await review.payIn({ amountMinor: 1_999n, senderName: 'A Payer' });

  const subscription = await failingReceiver(api);
  const consents = consentWorld(api);
  const thirdParty = await consents.thirdParty();
  const internal = await review.internal(account, await world.account(company), { amount: 75 });
  const consent = await consents.request(thirdParty);
  return {
    ...ids,
    'outgoing-transfers': waits.id,
    'incoming-transfers': unmatched.id,
    'machine-users': api.users.operator.id,
    'reconciliation-breaks': await openBreak(api, waits),
    reconciliation: await comparedDay(api),
    'reviews/outgoing-transfers': internal.id,
    'reviews/incoming-transfers': unmatched.id,
    'remedy-lists': await frozenList(api, waits, maker),
    consents: consent.id,
    ...subscription,
  };
}

/** A receiver that was turned off, with a delivery that failed for good. */
async function failingReceiver(api: TestApi): Promise<{ webhooks: string; 'webhook-deliveries': string }> {
  const { database } = api;
  const { id } = await subscribe(database, 'https://hooks.partner.example/events', { description: LONG_TEXT });
  await moneyWorld(api).client('Grace');
  await sequence(database);
  const deliveries = await database.reader.statement<{ id: string }>(
    'SELECT id FROM webhook_deliveries WHERE subscription_id = $1 ORDER BY event_id',
    [id],
  );
  const [first] = deliveries;
  if (first === undefined) throw new Error('nothing is to be delivered');
  await database.transaction(async (tx) => {
    await tx.statement(
      `UPDATE webhook_deliveries SET status = 'failed', attempt_count = 2, completed_at = service_now() WHERE id = $1`,
      [first.id],
    );
    await tx.statement(
      `INSERT INTO webhook_attempts SELECT $1, number, service_now(), 5012, 503, $2 FROM generate_series(1, 2) AS number`,
      [first.id, `<h1>Service unavailable</h1>${LONG_TEXT}`],
    );
  });
  await database.transaction((tx) =>
    tx.statement(
      `UPDATE webhook_subscriptions SET status = 'disabled', status_reason = 'failing', failing_since = service_now() - interval '5 days'
       WHERE id = $1`,
      [id],
    ),
  );
  return { webhooks: id, 'webhook-deliveries': first.id };
}

async function comparedDay({ database }: TestApi): Promise<string> {
  const id = newId();
  await database.transaction((tx) =>
    tx.statement(
      `INSERT INTO reconciliations (id, provider, currency, day, provider_credit_count, provider_credit_minor, provider_debit_count,
         provider_debit_minor, ledger_credit_count, ledger_credit_minor, ledger_debit_count, ledger_debit_minor, posting_id,
         created_at, compared_at)
       VALUES ($1, 'sandbox-bank', 'GBP', current_date - 1, 3, 125000, 0, 0, 3, 125000, 1, 1500000, 0, service_now(), service_now())`,
      [id],
    ),
  );
  return id;
}

/** Waits for the signature of a second person. */
async function frozenList({ database }: TestApi, { id, transactionNumber }: Json, maker: PersonId): Promise<string> {
  const items = [
    { id, transactionNumber, amountMinor: 1_500_000n, currency: 'GBP', waitingFor: 'authorization', accountId: null },
  ];
  const frozen = { remedy: 'cancel', resource: 'outgoing-transfer', filter: '/outgoing-transfers', items } as const;
  const initiator = { actor: maker, requestId: null, role: 'operator', reason: 'the client asked for it' } as const;
  return database.transaction((tx) => createRemedyList(tx, frozen, initiator));
}

async function openBreak({ database }: TestApi, { id }: Json): Promise<string> {
  const found = newId();
  const expected = { amountMinor: '1500000', currency: 'GBP', account: null, date: '2026-11-25' };
  await database.transaction((tx) =>
    tx.statement(
      `INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, resource_id, currency, day, expected)
       VALUES ($1, 'sandbox-bank', 'statement-payment-missing', $2, '{}', service_now(), $2::text::uuid, 'GBP', current_date - 1, $3::text::jsonb)`,
      [found, id, JSON.stringify(expected)],
    ),
  );
  return found;
}
