import { setTimeout as sleep } from 'node:timers/promises';
import { ActionableError } from '../../cli/common/actionable-error.ts';
import type {
  Account,
  CreatedOutgoingTransfer,
  FinancialAccountsClient,
  OutgoingTransferInput,
} from '../../client/index.ts';
import type { Sandbox } from '../../client/sandbox.ts';

/** A client with an account, which the bank has opened through the workflow account-connection. */
export async function openAccount(
  service: FinancialAccountsClient,
  givenName: string,
  familyName: string,
  at: { readonly connect?: object } = {},
): Promise<Account> {
  const { id } = await service.clients.create({
    identity: { type: 'individual', givenName, familyName, country: 'GB' },
    profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
  });
  return service.accounts.waitFor(await service.accounts.create({ clientId: id, currency: 'GBP' }, at), 'active');
}

/** Makes a company and its account known only to the bank, and migrates both from it. */
export async function migratedAccount(
  service: FinancialAccountsClient,
  sandbox: Sandbox,
  legalName: string,
  balance: number,
): Promise<Account> {
  const sourceId = `demo-${Date.now()}`;
  const identity = { type: 'corporate', legalName, country: 'GB' };
  await sandbox.addClient({ sourceId, identity, address: { country: 'GB', city: 'Leeds' } });
  await sandbox.addAccount({ sourceId, clientSourceId: sourceId, currency: 'GBP', country: 'GB', balance });
  const options = { connect: { type: 'explicit', serviceProvider: 'sandbox-bank' } } as const;
  const { id: clientId } = await service.clients.migrate(sourceId, options);
  return service.accounts.migrate({ sourceId, account: { clientId, currency: 'GBP' } }, options);
}

/** The directory's result for a name and an account, in a word or two. */
export async function comparedName(
  service: FinancialAccountsClient,
  clientId: string,
  { accountNumber, routingCodes }: Account,
  name: string,
): Promise<string> {
  const [givenName = '', familyName = ''] = name.split(' ');
  const { result } = await service.beneficiaryVerifications.create({
    clientId,
    identity: { type: 'individual', givenName, familyName },
    bankAccount: { accountNumber: accountNumber ?? '', routingCodes: routingCodes ?? {} },
  });
  if (result.matched) return 'matched';
  return result.accountHolderName === null
    ? `${result.reason}`
    : `${result.reason}, the holder is ${result.accountHolderName}`;
}

export async function pay(
  service: FinancialAccountsClient,
  { clientId, id }: Account,
  amount: number,
  to: Pick<OutgoingTransferInput, 'scope' | 'scheme' | 'destination'>,
): Promise<CreatedOutgoingTransfer> {
  const source = { type: 'client-account', accountId: id } as const;
  return service.outgoingTransfers.create({ clientId, currency: 'GBP', amount, description: 'Demo', source, ...to });
}

/** Pays a company with an account at another bank; answers when the payment is completed. */
export async function payBakery(service: FinancialAccountsClient, source: Account) {
  const bakery = await service.beneficiaries.create({
    clientId: source.clientId,
    identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
    bankAccounts: [
      { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
    ],
  });
  const [bankAccount] = bakery.bankAccounts;
  if (bankAccount === undefined) throw new ActionableError('The beneficiary came back without its bank account.');
  const transfer = await pay(service, source, 19.99, {
    scope: 'external',
    scheme: 'faster-payments',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount.id },
  });
  return service.outgoingTransfers.waitFor(transfer, 'completed');
}

const POLLS_MAX = 600;
const POLL_MS = 100;

/** Pays like an outside payer: at the bank, which notifies the service by a signed callback. */
export async function payIn(
  service: FinancialAccountsClient,
  sandbox: Sandbox,
  { id: accountId, iban }: Account,
  amount: number,
): Promise<void> {
  const reference = 'Analytical Engine';
  const money = { amount, currency: 'GBP', scheme: 'faster-payments', senderName: 'Charles Babbage', reference };
  await sandbox.payIn(iban === null ? money : { ...money, iban });
  await arrived(service, accountId);
}

/** Resolves when the account's payment in is booked. */
export async function arrived(service: FinancialAccountsClient, accountId: string): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { resources } = await service.incomingTransfers.list({ accountId }).page();
    const [transfer] = resources;
    if (transfer !== undefined) {
      await service.incomingTransfers.waitFor(transfer, 'completed');
      return;
    }
    await sleep(POLL_MS);
  }
  throw new ActionableError('The payment did not arrive.');
}

export function step(title: string): void {
  console.log(`\n${title}`);
}

export function show(what: string, how: string): void {
  console.log(`  ${what}: ${how}`);
}
