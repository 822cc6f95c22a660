import { ActionableError } from '../../cli/common/actionable-error.ts';
import type { Account, FinancialAccountsClient } from '../../client/index.ts';
import { FILES_ACCOUNT_NUMBER, FILES_PROVIDER } from '../start/development-bank.ts';
import type { Receiver } from './demo-receiver.ts';
import { arrived, openAccount, payBakery, show, step } from './demo-steps.ts';

/**
 * `npm run demo -- --bank files`: the main job through a bank that opens no accounts and answers no calls. It takes and sends files of ISO
 * 20022 by SFTP, once a second here.
 */
export async function runFilesDemo(
  service: FinancialAccountsClient,
  sandboxUrl: string,
  receiver: Receiver,
): Promise<void> {
  step(
    'Ada opens an account at a bank that takes files: known to the service only, behind the account that all share there',
  );
  const connect = { method: 'built-in', type: 'explicit', serviceProvider: FILES_PROVIDER };
  const account = await openAccount(service, 'Ada', 'Lovelace', { connect });
  show('Ada Lovelace', `account ${account.id}`);
  show('Paid in to', `${FILES_ACCOUNT_NUMBER}, with the reference ${account.ledgerNumber}`);

  step('250 GBP arrive there from outside: the bank tells it by camt.054');
  await payInByFile(service, sandboxUrl, account, 250);
  show('Ada', `has ${(await service.accounts.get(account.id)).availableBalance} GBP`);

  step('Ada pays a bakery 19.99 GBP by Faster Payments: a pain.001 goes out, pain.002 and camt.054 come back');
  const payment = await payBakery(service, account);
  show(payment.transactionNumber, payment.status);
  show('Ada', `has ${(await service.accounts.get(account.id)).availableBalance} GBP`);

  step('The files, as the bank has them');
  const { received, written } = await filesOf(sandboxUrl);
  for (const { version, fileName, outcome } of received) show(`to the bank    ${version}`, `${fileName}, ${outcome}`);
  for (const { version, id } of written) show(`from the bank  ${version}`, id);
  show('The last one', `curl -s ${sandboxUrl}/file-bank/files/${written.at(-1)?.id}`);

  step('What the webhook receiver received, each with a valid signature');
  await receiver.waitFor('outgoing-transfer-completed', payment.id);
  receiver.showReceived();
}

/** Pays like an outside payer, into the account that all share. */
async function payInByFile(
  service: FinancialAccountsClient,
  sandboxUrl: string,
  { id, ledgerNumber, routingCodes }: Account,
  amount: number,
): Promise<void> {
  const payment = { amount, currency: 'GBP', scheme: 'faster-payments', senderName: 'Charles Babbage' };
  const receiver = { accountNumber: FILES_ACCOUNT_NUMBER, routingCodes, reference: ledgerNumber };
  await asked(`${sandboxUrl}/file-bank/payments-in`, {
    method: 'POST',
    body: JSON.stringify({ ...payment, ...receiver }),
  });
  await arrived(service, id);
}

interface Exchanged {
  readonly id: string;
  readonly fileName: string;
  readonly version: string | null;
  readonly outcome?: string;
}

/** What went each way, the latest last. */
function filesOf(sandboxUrl: string): Promise<Readonly<Record<'received' | 'written', readonly Exchanged[]>>> {
  return asked(`${sandboxUrl}/file-bank/files?customer=${FILES_PROVIDER}`);
}

async function asked<Answer>(url: string, request: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, request);
  if (answer.ok) return (await answer.json()) as Answer;
  throw new ActionableError(`The sandbox answers ${answer.status} at ${url}: ${await answer.text()}`);
}
