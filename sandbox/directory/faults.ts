import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Hono, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { Bank } from '../bank/bank.ts';
import { answer, BankError, maybe, number, readBody } from '../bank/wire.ts';
import { alreadySent } from '../http/already-sent.ts';

type Bindings = { Bindings: HttpBindings };

const FAULTS_REQUEST = v.object({
  latencyMs: maybe(number({ max: 60_000 })),
  errorRate: maybe(number({ max: 1 })),
  cutRate: maybe(number({ max: 1 })),
  garbledRate: maybe(number({ max: 1 })),
});

const NO_FAULTS = { latencyMs: 0, errorRate: 0, cutRate: 0, garbledRate: 0 };

/** The faults that all directories share: the routes that set them, and what runs before each question. */
export function directoryFaults(app: Hono<Bindings>, { closing }: Bank): MiddlewareHandler<Bindings> {
  let faults = NO_FAULTS;
  app.get('/faults', (c) => answer(c, 200, faults));
  app.post('/faults', async (c) => {
    const { latencyMs, errorRate, cutRate, garbledRate } = await readBody(c, FAULTS_REQUEST);
    faults = {
      latencyMs: latencyMs ?? faults.latencyMs,
      errorRate: errorRate ?? faults.errorRate,
      cutRate: cutRate ?? faults.cutRate,
      garbledRate: garbledRate ?? faults.garbledRate,
    };
    return answer(c, 200, faults);
  });
  app.delete('/faults', (c) => {
    faults = NO_FAULTS;
    return answer(c, 200, faults);
  });
  return async (c, next) => {
    if (faults.latencyMs > 0) await sleep(faults.latencyMs, undefined, { signal: closing.signal });
    if (Math.random() < faults.errorRate) {
      throw new BankError(503, 'unavailable', 'The directory is temporarily unavailable.');
    }
    if (Math.random() < faults.cutRate) {
      c.env.incoming.socket.destroy();
      return alreadySent();
    }
    await next();
    if (Math.random() < faults.garbledRate) {
      const text = await c.res.text();
      c.res = new Response(text.slice(0, text.length / 2), c.res);
    }
  };
}
