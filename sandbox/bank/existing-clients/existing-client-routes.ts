import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Hono, MiddlewareHandler } from 'hono';
import { rejectionOf } from '../accounts.ts';
import type { Bank } from '../bank.ts';
import { cut } from '../faults.ts';
import { LATE_ANSWER_MS } from '../payments/scenarios.ts';
import { answer, BankError, notFound, readBody } from '../wire.ts';
import {
  CLIENT_CLOSED,
  EXISTING_BENEFICIARY_REQUEST,
  EXISTING_CLIENT_REQUEST,
  existingClients,
  findExistingBeneficiary,
  findExistingClient,
  storeExistingBeneficiary,
  storeExistingClient,
} from './existing-clients.ts';

/** Routes for the bank's operator to enter clients and beneficiaries, and for the service to import them. */
export function existingClientRoutes(app: Hono<{ Bindings: HttpBindings }>, bank: Bank): void {
  app.post('/existing-clients', async (c) =>
    answer(c, 201, await storeExistingClient(bank, await readBody(c, EXISTING_CLIENT_REQUEST))),
  );
  app.get('/existing-clients', (c) =>
    answer(c, 200, {
      clients: existingClients(bank).map(({ sourceId, reference, status }) => ({ sourceId, reference, status })),
    }),
  );
  app.post('/existing-beneficiaries', async (c) =>
    answer(c, 201, await storeExistingBeneficiary(bank, await readBody(c, EXISTING_BENEFICIARY_REQUEST))),
  );

  const magic = bySourceId(bank);
  app.get('/existing-clients/:sourceId', magic, (c) => {
    const client = findExistingClient(bank, c.req.param('sourceId'));
    if (client === null) throw notFound('client');
    if (client.status === 'closed') return answer(c, 422, { error: CLIENT_CLOSED });
    return answer(c, 200, client);
  });
  app.get('/existing-beneficiaries/:sourceId', magic, (c) => {
    const beneficiary = findExistingBeneficiary(bank, c.req.param('sourceId'));
    if (beneficiary === null) throw notFound('beneficiary');
    return answer(c, 200, beneficiary);
  });
}

/** A look-up's outcome, by the prefix of the source id. */
export function bySourceId(bank: Bank): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (c, next) => {
    const sourceId = c.req.param('sourceId') ?? '';
    const error = rejectionOf(sourceId, 'fail');
    if (error !== null) return answer(c, 422, { error });
    if (sourceId.startsWith('unavailable'))
      throw new BankError(503, 'unavailable', 'The bank is temporarily unavailable.');
    if (sourceId.startsWith('cut')) return cut(c);
    if (sourceId.startsWith('slow')) await sleep(LATE_ANSWER_MS, undefined, { signal: bank.closing.signal });
    await next();
  };
}
