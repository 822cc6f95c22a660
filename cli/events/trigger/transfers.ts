import { LosslessNumber } from 'lossless-json';
import { ActionableError } from '../../common/actionable-error.ts';
import { isJson, type Json, list, object, text } from '../../common/answers.ts';
import { accountOf, bankAccountOf, newBeneficiary, openedAccount, readAccount } from './parties.ts';
import { givenAs, type Stage, until } from './world.ts';

/** Of `config/local.json`: the currency whose transfers wait for a review. */
export const REVIEWED_CURRENCY = 'SEK';

const SCHEMES: Readonly<Record<string, string>> = { GBP: 'faster-payments', EUR: 'sepa-instant' };

function schemeOf(currency: string): string {
  return SCHEMES[currency] ?? 'swift';
}

/** Pays from outside, to the account or, without one, to none; returns the incoming transfer's id once it is recorded. */
export async function payIn(stage: Stage, account: Json | null, amount = '25.00'): Promise<string> {
  const { world } = stage;
  const currency = account === null ? 'GBP' : text(account, 'currency');
  const payment = await world.sandbox('/bank/payments-in', {
    amount: new LosslessNumber(amount),
    currency,
    scheme: schemeOf(currency),
    senderName: 'Charles Trigger',
    reference: account === null ? 'to no account' : text(account, 'ledgerNumber'),
  });
  const query = `data.incomingTransfer.serviceProviderId=${text(payment, 'paymentId')}`;
  return until('The arrival of a payment', async () => {
    const [found] = list(object(await world.call('GET', `/incoming-transfers?${query}`), 'data'), 'incomingTransfers');
    return found === undefined ? null : text(found, 'id');
  });
}

/** Pays in to the given account, or a new one. */
export async function receive(stage: Stage): Promise<string> {
  return payIn(stage, await accountOf(stage));
}

/** Money that no account matches. */
export function receiveUnmatched(stage: Stage): Promise<string> {
  return payIn(stage, null);
}

export async function returnToPayer(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'incoming-transfer');
  const id = given === null ? await receiveUnmatched(stage) : text(given, 'id');
  await stage.world.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' }, data: {} });
  return id;
}

/** An account of the reviewed currency, unless an account was given. */
async function reviewedAccount(stage: Stage): Promise<Json> {
  return givenAs(stage, 'account') ?? openedAccount(stage, { currency: REVIEWED_CURRENCY });
}

export async function receiveForReview(stage: Stage): Promise<string> {
  const id = await payIn(stage, await reviewedAccount(stage));
  return inReview(await readTransfer(stage, 'incoming', id));
}

export async function payForReview(stage: Stage): Promise<string> {
  return inReview(await pay(stage, await reviewedAccount(stage), '10.00'));
}

function inReview(transfer: Json): string {
  const { waitingFor, requirementConfiguration } = transfer;
  // A transfer that was just created waits for nothing yet, and shows that its check is due.
  const isDue = isJson(requirementConfiguration) && requirementConfiguration.complianceCheckStatus === 'not-checked';
  if (waitingFor === 'compliance' || isDue) return text(transfer, 'id');
  throw new ActionableError(
    `The configuration reviews no transfers in ${text(transfer, 'currency')}: set compliance.byCurrency for it, as config/local.json does for ${REVIEWED_CURRENCY}.`,
  );
}

/** A payment by the bank whose last two decimals choose its outcome (docs/sandbox.md), from the given account or a new one. */
export async function payOut(stage: Stage, amount: string): Promise<string> {
  const account = await accountOf(stage);
  await fund(stage, account);
  return text(await pay(stage, account, amount), 'id');
}

const FUNDS = 20;

/** The account has enough for one payment. */
async function fund(stage: Stage, account: Json): Promise<void> {
  const id = text(account, 'id');
  const isFunded = async () => Number((await readAccount(stage, id)).availableBalance) >= FUNDS || null;
  if ((await isFunded()) !== null) return;
  await payIn(stage, account);
  await until('The credit of a payment', isFunded);
}

async function pay(stage: Stage, account: Json, amount: string, change: object = {}): Promise<Json> {
  const [clientId, currency] = [text(account, 'clientId'), text(account, 'currency')];
  const beneficiaryBankAccountId = bankAccountOf(await newBeneficiary(stage, clientId, currency));
  const outgoingTransfer = {
    clientId,
    currency,
    amount: new LosslessNumber(amount),
    description: 'Triggered',
    scope: 'external',
    scheme: schemeOf(currency),
    source: { type: 'client-account', accountId: text(account, 'id') },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return object(object(await stage.world.call('POST', '/outgoing-transfers', body), 'data'), 'outgoingTransfer');
}

/** Moves the given payment at the bank by a lever, or makes a payment whose amount has the same outcome. */
export async function moveOrPay(stage: Stage, lever: 'settle' | 'reject' | 'return', amount: string): Promise<string> {
  const given = givenAs(stage, 'outgoing-transfer');
  if (given === null) return payOut(stage, amount);
  await stage.world.sandbox(`/bank/payments/${text(given, 'id')}/${lever}`, {});
  return text(given, 'id');
}

/** Cancels the given transfer, or a new one that waits for money. */
export async function cancel(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'outgoing-transfer');
  const id = text(given ?? (await pay(stage, await openedAccount(stage), '1000000.00')), 'id');
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  await stage.world.call('PATCH', `/outgoing-transfers/${id}`, body);
  return id;
}

/** Recalls a payment whose beneficiary's bank rejects that. */
export async function recall(stage: Stage): Promise<string> {
  const id = await payOut(stage, '10.14');
  await until('The completion of a payment', async () => {
    const { status } = await readTransfer(stage, 'outgoing', id);
    return status === 'completed' ? true : null;
  });
  await stage.world.call('POST', `/outgoing-transfers/${id}/recall`, { workflow: { code: 'direct' }, data: {} });
  return id;
}

async function readTransfer({ world }: Stage, direction: 'incoming' | 'outgoing', id: string): Promise<Json> {
  const { data } = await world.call('GET', `/${direction}-transfers/${id}`);
  return object(object({ data }, 'data'), `${direction}Transfer`);
}
