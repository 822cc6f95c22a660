import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Bank } from './bank/bank.ts';
import { bankRoutes } from './bank/routes.ts';
import { answer, BankError } from './bank/wire.ts';
import type { SandboxClock } from './clock/clock.ts';
import { clockRoutes } from './clock/routes.ts';
import { directoryRoutes } from './directory/routes.ts';
import type { Mailbox } from './mail/mailbox.ts';
import { mailRoutes } from './mail/routes.ts';

/** Stand-ins for the outside world, each under its own path. */
export function sandboxApp(parts: {
  readonly bank: Bank;
  readonly mailbox: Mailbox;
  readonly clock: SandboxClock | null;
  readonly logger: Logger;
}): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/health/ready', (c) => answer(c, 200, { status: 'ready' }));
  app.route('/bank', bankRoutes(parts.bank));
  app.route('/mail', mailRoutes(parts.mailbox));
  if (parts.clock !== null) app.route('/clock', clockRoutes(parts.clock, parts.bank));
  app.route('/directory', directoryRoutes(parts.bank));

  app.notFound((c) => answer(c, 404, { error: new BankError(404, 'no-such-path', 'Nothing answers here.').refusal }));
  app.onError((error, c) => {
    if (error instanceof BankError) return answer(c, error.status, { error: error.refusal });
    parts.logger.error({ error: error.name, method: c.req.method, path: c.req.routePath }, 'request failed');
    const refusal = { category: 'technical', origin: 'provider', code: 'internal', message: 'The sandbox failed.' };
    return answer(c, 500, { error: { ...refusal, attributes: {} } });
  });
  return app;
}
