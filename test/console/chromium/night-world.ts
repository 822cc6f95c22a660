import type { Json } from '../../harness/api.ts';
import type { ClockedService } from '../../harness/servers/clocked-service.ts';
import { until } from '../../harness/stage.ts';
import { type Receiver, startReceiver } from '../../harness/webhooks/webhooks.ts';

// What the nights begin with, each twice: once for the console and once for commands.

/** Between accounts in euros, which are reviewed. */
export async function reviewedTransfers(service: ClockedService): Promise<readonly Json[]> {
  const [from, to] = [await service.account('EUR'), await service.account('EUR')];
  await service.payIn(from, 500);
  const pay = (amount: number) =>
    service.post(
      '/outgoing-transfers',
      'outgoingTransfer',
      {
        clientId: from.clientId,
        currency: 'EUR',
        amount,
        scope: 'internal',
        source: { type: 'client-account', accountId: from.id },
        destination: { type: 'client-account', accountId: to.id },
      },
      'client.direct',
    );
  return [await pay(40), await pay(41)];
}

/** Two payments in of the right account number, with the sort code of another bank. */
export async function unmatchedPayments(service: ClockedService, account: Json): Promise<readonly Json[]> {
  const receiver = { accountNumber: account.iban.slice(-8), routingCodes: { 'sort-code': '200000' } };
  for (const amount of [61, 62]) {
    await service.bank('/payments-in', {
      currency: 'GBP',
      scheme: 'faster-payments',
      amount,
      senderName: 'A Payer',
      reference: 'Rent',
      ...receiver,
    });
  }
  return until(
    () => service.get('/incoming-transfers?data.incomingTransfer.status=on-hold', 'incomingTransfers'),
    ({ length }) => length === 2,
  );
}

export interface DeadReceiver {
  readonly id: string;
  readonly receiver: Receiver;
}

/** Receivers that answer 503, each with a webhook that it did not take. */
export async function deadReceivers(service: ClockedService): Promise<readonly DeadReceiver[]> {
  const receivers: DeadReceiver[] = [];
  for (const description of ['by the console', 'by commands']) {
    const receiver = await startReceiver();
    receiver.answer((_message, response) => response.writeHead(503).end());
    const given = { url: receiver.url, description, types: ['account-activated'] };
    const { id } = await service.post('/webhook-subscriptions', 'webhookSubscription', given);
    receivers.push({ id, receiver });
  }
  await service.account('GBP');
  await until(
    async () => receivers.map(({ receiver }) => receiver.received.length),
    (counts) => counts.every((count) => count > 0),
  );
  return receivers;
}
