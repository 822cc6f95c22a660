import { createHmac, randomUUID } from 'node:crypto';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import type { Json } from '../../harness/api.ts';
import { startFaultyServer } from '../../harness/faults/faulty-server.ts';
import {
  eventually,
  SANDBOX_SECRET,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../../harness/servers/sandbox.ts';
import { type AdapterUnderTest, keepsTheProviderContract, type SignedCallback } from './over-http.ts';
import { payment } from './sandbox-payments.ts';

keepsTheProviderContract('the sandbox bank’s adapter', async () => {
  const directory = temporaryDirectory();
  const receiver = await startCallbackReceiver();
  const sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  const server = await startFaultyServer(sandbox.url);
  const error = { category: 'functional', origin: 'customer', code: 'AC03', message: 'Unknown.', attributes: {} };
  const ask = async (path: string, body: Json): Promise<Json> => {
    const answer = await fetch(`${sandbox.url}/bank${path}`, { method: 'POST', body: JSON.stringify(body) });
    const answered = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(answered)}`);
    return answered;
  };
  const adapter: AdapterUnderTest = {
    port: createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }),
    server,
    ownRejections: [400, 422].map((status) => ({ status, body: JSON.stringify({ error }) })),
    ownNotFound: { status: 404, body: JSON.stringify({ error: { ...error, code: 'not-found' } }) },
    amountOnTheWire: formatAmount,
    payment,
    rejectedOnce: () => payment(70_011n),
    knowsReturns: true,
    returnPart: async (ourReference, returnedMinor) => {
      await ask(`/payments/${ourReference}/return`, { amount: formatAmount(returnedMinor, 'GBP'), code: 'AC06' });
    },
    account: { accountHolderName: 'Payroll Ltd', alias: 'Main', currency: 'GBP', country: 'GB' },
    payIn: async (amountMinor, currency) => {
      const scheme = currency === 'GBP' ? 'faster-payments' : 'swift';
      const payer = { reference: 'invoice 7', senderName: 'Ann Payer' };
      return (await ask('/payments-in', { amount: formatAmount(amountMinor, currency), currency, scheme, ...payer }))
        .paymentId;
    },
    spoilEntry: (page, ourReference) => {
      const statement = JSON.parse(page);
      for (const entry of statement.entries) if (entry.ourReference === ourReference) entry.amount = 'a lot';
      return JSON.stringify(statement);
    },
    returnCallback: (ourReference) =>
      eventually('the callback of the return', () =>
        receiver.received.find(({ rawBody }) => {
          const { type, data } = JSON.parse(rawBody.toString());
          return type === 'payment-returned' && data.ourReference === ourReference;
        }),
      ),
    sign,
    stop: async () => {
      await server.close();
      await sandbox.stop();
      await receiver.close();
      directory.remove();
    },
  };
  return adapter;
});

function sign(rawBody: Buffer, at: Date): SignedCallback {
  const id = `event-${randomUUID()}`;
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const mac = createHmac('sha256', SANDBOX_SECRET).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` },
    rawBody,
  };
}
