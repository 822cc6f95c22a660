import { createRemedyList } from '../../db/approvals/remedy-lists.ts';
import { askToSendAgain } from '../../db/bank-files/by-hand/requests.ts';
import { buildFile } from '../../db/bank-files/files.ts';
import { newId } from '../../db/common/ids.ts';
import { recordPerson } from '../../db/people/people.ts';
import { listBreaks } from '../../db/reconciliation/breaks.ts';
import { saveReconciliation } from '../../db/reconciliation/days.ts';
import { recordDifference } from '../../db/reconciliation/statements.ts';
import type { BankFileId } from '../../domain/common/ids.ts';
import { NOTHING } from '../../domain/reconciliation/day-balance.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { consentWorld, PAYMENT } from '../harness/parties/consents.ts';

/** What a payer, a client or a bank may put into any text: it must come back as text, on every page. */
export const SCRIPT = '<script>alert(1)</script>';
/** A name that stands on no page of a person who is only a viewer. */
export const GIVEN_NAME = 'Zephyrine';
export const FAMILY_NAME = 'Quillfeather';
/** What an owner of a receiver may put into its address. */
export const RECEIVER_SECRET = 'hook-9f3c-token';
export const EMAIL = 'zephyrine.quillfeather@example.com';

/** One of each resource that the console shows, made by the API; the ids by the folder of their pages. */
export interface ConsoleWorld {
  readonly ids: Readonly<Record<string, string>>;
  readonly client: string;
  readonly account: string;
  /** An external transfer that waits for a second signature. */
  readonly unauthorized: string;
}

export async function makeConsoleWorld(api: TestApi): Promise<ConsoleWorld> {
  const world = moneyWorld(api);
  const created = async (path: string, body: Json, as: 'operator' | 'admin' = 'operator'): Promise<Json> => {
    const answer = await api.call('POST', path, body, { as });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.body.data;
  };
  const identity = { type: 'individual', givenName: `${GIVEN_NAME} ${SCRIPT}`, familyName: FAMILY_NAME, country: 'GB' };
  const profile = { identityType: 'individual', email: EMAIL, residentialAddress: { country: 'GB', city: 'London' } };
  const { client } = await created('/clients', {
    workflow: { code: 'direct' },
    data: { client: { identity, profile } },
  });
  const account = await world.account(client.id, { amount: 5_000 });
  const other = await world.account(client.id, { amount: 0 });
  const pay = async (amount: number, description: string): Promise<Json> => {
    const { outgoingTransfer } = await created('/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: {
        outgoingTransfer: {
          clientId: client.id,
          currency: 'GBP',
          amount,
          scope: 'internal',
          description,
          source: { type: 'client-account', accountId: account },
          destination: { type: 'client-account', accountId: other },
        },
      },
    });
    return outgoingTransfer;
  };
  const paid = await pay(12.5, `Rent ${SCRIPT}`);
  const unauthorized = await unauthorizedPayment(api, world, { clientId: client.id, accountId: account });
  const { webhookSubscription } = await created(
    '/webhook-subscriptions',
    {
      workflow: { code: 'direct' },
      data: {
        webhookSubscription: {
          url: `http://127.0.0.1:40123/${RECEIVER_SECRET}`,
          description: `Ledger ${SCRIPT}`,
        },
      },
    },
    'admin',
  );
  const consents = consentWorld(api);
  const consent = await consents.request(await consents.thirdParty(), PAYMENT);
  const ids = {
    ...(await makeReconciliation(api)),
    ...(await makeBankFile(api, unauthorized)),
    accounts: account,
    clients: client.id,
    consents: consent.id,
    'incoming-transfers': paid.incomingTransferId ?? paid.id,
    'machine-users': api.users.viewer.id,
    'outgoing-transfers': paid.id,
    ...(await freezeList(api, unauthorized)),
    'webhook-deliveries': await deliver(api, webhookSubscription.id, paid.id),
    webhooks: webhookSubscription.id,
  };
  return { ids, client: client.id, account, unauthorized };
}

/** The id of the resource that a page shows: of the folder before `:id`. */
export function idOn({ ids }: Pick<ConsoleWorld, 'ids'>, path: string): string {
  const parts = path.split('/');
  const at = parts.indexOf(':id');
  if (at < 0) return '';
  const id = ids[parts[at - 1] ?? ''];
  if (id === undefined) throw new Error(`the console's world has nothing for ${path}: make it (console-world.ts)`);
  return id;
}

/** A file of ours that is set aside, with a payment and a name that no bank gave; it is asked for to be sent once more. */
async function makeBankFile({ database }: TestApi, transferId: string) {
  const id = newId<BankFileId>();
  const file = { id, provider: 'files-bank', message: 'pain.001', messageId: id, name: `${id} ${SCRIPT}.xml` } as const;
  return database.transaction(async (tx) => {
    await buildFile(tx, { ...file, content: Buffer.from(`${id} ${FAMILY_NAME}`), plain: null });
    await tx.statement("UPDATE bank_files SET state = 'set-aside', reason = $2 WHERE id = $1::uuid", [id, SCRIPT]);
    await tx.statement(
      `INSERT INTO bank_instructions (transfer_id, attempt, provider, instruction_id, payment_reference, account, scheme, currency, amount_minor,
         details, state, file_id, batch_id, reasons, queued_at)
       VALUES ($1::uuid, 1, 'files-bank', 'I1', 'P1', '{}', 'sepa', 'GBP', 125000, $2::jsonb, 'assigned', $3::uuid, 'B1', $4::text[], service_now())`,
      [transferId, { creditor: { name: FAMILY_NAME } }, id, [SCRIPT]],
    );
    const request = await askToSendAgain(tx, id, { actor: newId(), requestId: null, role: 'operator', reason: SCRIPT });
    return { 'bank-files': id, 'bank-file-requests': request };
  });
}

/** A person, and a list that waits for a second signature. */
async function freezeList(api: TestApi, transferId: string) {
  const subject = `frozen-${newId()}`;
  const identity = { issuer: 'https://other.example', subject, name: `Fr ${SCRIPT}`, email: null, roles: [] };
  return api.database.transaction(async (tx) => {
    const { id } = await recordPerson(tx, identity, new Date());
    const item = {
      id: transferId,
      transactionNumber: '20261126-ABC123',
      amountMinor: 125_000n,
      currency: 'GBP',
      waitingFor: 'authorization',
      accountId: null,
    };
    const list = {
      remedy: 'cancel',
      resource: 'outgoing-transfer',
      filter: '/waiting?on=person',
      items: [item],
    } as const;
    const initiator = { actor: id, requestId: null, role: 'operator', reason: `Frozen ${SCRIPT}` } as const;
    return { people: id, 'remedy-lists': await createRemedyList(tx, list, initiator) };
  });
}

async function unauthorizedPayment(
  api: TestApi,
  world: MoneyWorld,
  { clientId, accountId }: { readonly clientId: string; readonly accountId: string },
): Promise<string> {
  const beneficiaryBankAccountId = await world.beneficiary(clientId);
  const answer = await api.call(
    'POST',
    '/outgoing-transfers',
    {
      workflow: { code: 'client.direct' },
      data: {
        outgoingTransfer: {
          clientId,
          currency: 'GBP',
          amount: 1_250,
          scope: 'external',
          scheme: 'faster-payments',
          description: `Bread ${SCRIPT}`,
          source: { type: 'client-account', accountId },
          destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
        },
      },
    },
    { as: 'operator' },
  );
  if (answer.status >= 300) throw new Error(`a payment was not created: ${answer.text}`);
  return answer.body.data.outgoingTransfer.id;
}

/** A delivery that failed for good, with what a receiver may answer. */
async function deliver(api: TestApi, subscriptionId: string, resourceId: string): Promise<string> {
  const id = newId();
  const body = JSON.stringify({ text: SCRIPT, name: FAMILY_NAME });
  await api.database.transaction(async (tx) => {
    await tx.statement(
      `INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, body, status, attempt_count,
         next_attempt_at, created_at, completed_at)
       VALUES ($1::uuid, $2::uuid, $3::uuid, 1, $4::uuid, 'outgoing-transfers', 'outgoing-transfer-created', $5, 'failed', 1,
         service_now(), service_now(), service_now())`,
      [id, subscriptionId, newId(), resourceId, body],
    );
    await tx.statement(
      `INSERT INTO webhook_attempts (delivery_id, number, attempted_at, duration_ms, response_code, response_body, error)
       VALUES ($1::uuid, 1, service_now(), 12, 500, $2, NULL)`,
      [id, `${SCRIPT} ${FAMILY_NAME}`],
    );
  });
  return id;
}

/** A compared day, and a break whose reference is a bank's text. */
async function makeReconciliation({ database }: TestApi): Promise<Readonly<Record<string, string>>> {
  const position = { provider: 'sandbox-bank', currency: 'GBP' };
  const key = { direction: 'in', reference: `R ${SCRIPT} ${FAMILY_NAME}` } as const;
  await database.transaction((tx) => recordDifference(tx, position, key, 'statement-unknown-payment'));
  const { rows } = await listBreaks(database.reader, { reference: key.reference }, { size: 1, offset: 0 });
  const sums = { provider: NOTHING, ours: NOTHING };
  const saved = { sums, postingId: 0n, source: 'statement' } as const;
  const day = await saveReconciliation(database.reader, position, '2026-01-01', saved);
  return { reconciliation: day, 'reconciliation-breaks': rows[0]?.id ?? '' };
}
