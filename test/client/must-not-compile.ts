import { ApiError, createClient, isRejection } from '@financial-accounts/client';
import { signTestWebhook, verifyWebhook } from '@financial-accounts/client/webhooks';

// What a compiler must find: each comment is an error itself if the line below it compiles. Nothing here is run.

export async function mustNotCompile(): Promise<void> {
  // @ts-expect-error: a machine user needs its key and the service's audience.
  createClient({ baseUrl: 'http://127.0.0.1:3000', machineUser: 'id' });
  const service = createClient({ baseUrl: 'http://127.0.0.1:3000', token: () => 'token' });

  // @ts-expect-error: an account needs a currency.
  await service.accounts.create({ clientId: 'id' });
  // @ts-expect-error: a currency is one of ISO 4217.
  await service.accounts.create({ clientId: 'id', currency: 'XXZ' });
  // @ts-expect-error: an individual has no legal name. The message names the field, and no other workflow's.
  await service.clients.create({ identity: { type: 'individual', givenName: 'A', familyName: 'B', legalName: 'C' } });
  // @ts-expect-error: a migration needs its provider.
  await service.clients.migrate('source');
  // @ts-expect-error: the method is the workflow's code.
  await service.clients.create(undefined as never, { workflow: { code: 'migration' } });
  // @ts-expect-error: changes have no key.
  await service.accounts.update('id', { alias: 'Savings' }, { idempotencyKey: 'key' });
  // @ts-expect-error: no status of a transfer.
  service.outgoingTransfers.list({ status: 'done' });
  // @ts-expect-error: no account is ever completed.
  await service.accounts.waitFor({ id: 'id' }, 'completed');
  // @ts-expect-error: date-times are dates.
  service.auditEntries.list({ occurredFrom: '2026-03-02T09:30:00' });
  // @ts-expect-error: a dry run makes nothing, so its answer has no id.
  (await service.outgoingTransfers.dryRun(undefined as never)).id satisfies string;
  // @ts-expect-error: the route's answer has a client, and no account.
  (await service.request('GET', '/clients/{clientId}')).data.account satisfies unknown;
  (await service.auditEntries.list().page()).resources[0]?.occurredAt satisfies Date | undefined;
  (await service.request('GET', '/of/a/later/release')) satisfies unknown;
}

export function codesOf(error: unknown): string | undefined {
  if (error instanceof ApiError && error.code === 'client.deadline.exceeded') return error.code;
  if (isRejection(error, 'createOutgoingTransfer')) {
    if (error.code === 'transfer.date.invalid') return error.code;
    // @ts-expect-error: no transfer is rejected for a password.
    if (error.code === 'user.password.not_set') return error.code;
  }
  // @ts-expect-error: there is no such operation.
  return isRejection(error, 'createTransfer') ? error.code : undefined;
}

export function webhooksOf(body: string, headers: Headers): void {
  const webhook = verifyWebhook(body, headers, 'whsec_');
  if (webhook.name === 'unknown') webhook.event.data.anything satisfies unknown;
  // @ts-expect-error: which resource it has depends on its name.
  webhook.event.data.outgoingTransfer satisfies object;
  if (webhook.name === 'accounts.account-activated') {
    webhook.event.data.account.id satisfies string;
    webhook.event.metadata.eventDateTime satisfies Date;
    // @ts-expect-error: another module has this resource.
    webhook.event.data.outgoingTransfer satisfies object;
  }
  // @ts-expect-error: no such webhook.
  signTestWebhook({ name: 'accounts.account-forgotten', data: {}, secret: 'whsec_' });
}
