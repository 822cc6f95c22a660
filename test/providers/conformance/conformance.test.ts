import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ADAPTER_NAMES } from '../../../activities/providers/providers.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import type { Json } from '../../harness/api.ts';
import { SANDBOX_SECRET, startSandbox, temporaryDirectory } from '../../harness/servers/sandbox.ts';
import { keepsThePort, type ProviderUnderTest } from './every-provider.ts';
import { filesUnderTest } from './files-under-test.ts';
import { payment, returnInFull } from './sandbox-payments.ts';

interface Row {
  /** One of activities/providers/providers.ts. */
  readonly adapter: string;
  readonly name: string;
  readonly start: () => Promise<ProviderUnderTest>;
}

/** A new adapter joins by a row. */
const ROWS: readonly Row[] = [
  { adapter: 'sandbox-bank', name: 'the sandbox bank, over HTTP,', start: sandboxBank },
  {
    adapter: 'iso20022',
    name: 'a British bank that takes files from a folder',
    start: () =>
      filesUnderTest({
        transport: 'folder',
        scheme: 'faster-payments',
        currency: 'GBP',
        place: 'GB',
        payee: { country: 'GB', currency: 'GBP', accountNumber: '87654321', routingCodes: { 'sort-code': '200000' } },
      }),
  },
  {
    adapter: 'iso20022',
    name: 'a SEPA bank that takes files over SFTP',
    start: () =>
      filesUnderTest({
        transport: 'sftp',
        scheme: 'sepa-instant',
        currency: 'EUR',
        place: 'DE',
        payee: { country: 'FR', currency: 'EUR', iban: 'FR1420041010050500013M02606' },
      }),
  },
];

for (const { name, start } of ROWS) keepsThePort(name, start);

test('every adapter of the service has a row', () => {
  expect(new Set(ROWS.map(({ adapter }) => adapter))).toEqual(new Set(ADAPTER_NAMES));
});

async function sandboxBank(): Promise<ProviderUnderTest> {
  const directory = temporaryDirectory();
  const sandbox = await startSandbox({ directory: directory.path, callbackUrl: 'http://127.0.0.1:1/' });
  const ask = async (path: string, body: Json): Promise<Json> => {
    const answer = await fetch(`${sandbox.url}/bank${path}`, { method: 'POST', body: JSON.stringify(body) });
    const answered = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(answered)}`);
    return answered;
  };
  const payIn: ProviderUnderTest['payIn'] = async (amountMinor, currency) => {
    const scheme = currency === 'GBP' ? 'faster-payments' : 'swift';
    const money = { amount: formatAmount(amountMinor, currency), currency, scheme };
    return (await ask('/payments-in', { ...money, reference: 'invoice 7', senderName: 'Ann Payer' })).paymentId;
  };
  return {
    port: createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET }),
    currency: 'GBP',
    afterFailure: 'failed',
    payment: async (amountMinor) => payment(amountMinor),
    nextAttempt: async (request) => ({ ...request, attempt: request.attempt + 1 }),
    payIn,
    sendBack: async (amountMinor) => returnInFull(await payIn(amountMinor, 'GBP'), amountMinor),
    returnPart: async ({ ourReference, currency }, returnedMinor) => {
      const amount = formatAmount(returnedMinor, currency);
      await ask(`/payments/${ourReference}/return`, { amount, code: 'AC06' });
    },
    account: { accountHolderName: 'Payroll Ltd', alias: 'Main', currency: 'GBP', country: 'GB' },
    handedOver: async () => {
      const [clientSourceId, sourceId] = [randomUUID(), randomUUID()];
      const identity = { type: 'corporate', legalName: 'Lakeside Mills Ltd', country: 'GB' };
      await ask('/existing-clients', { sourceId: clientSourceId, identity, address: { country: 'GB', city: 'Leeds' } });
      await ask('/existing-accounts', { sourceId, clientSourceId, currency: 'GBP', country: 'GB', balance: 84 });
      return sourceId;
    },
    endDay: async () => ({ from: new Date(0), to: new Date('2100-01-01T00:00:00Z') }),
    stop: async () => {
      await sandbox.stop();
      directory.remove();
    },
  };
}
