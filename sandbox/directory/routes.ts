import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { Bank } from '../bank/bank.ts';
import { findClientByReference } from '../bank/existing-clients/existing-clients.ts';
import { SORT_CODE as BANK_SORT_CODE } from '../bank/identifiers.ts';
import { answer, BankError, maybe, number, readBody, text } from '../bank/wire.ts';
import { CODES_WITH_NAME, type DirectoryCode, MAGIC_SORT_CODE, magicAnswer } from './magic-accounts.ts';
import { type HolderType, type NamedParty, nameMatchCode } from './name-matching.ts';

const NAME_CHECK_REQUEST = v.object({
  accountType: v.picklist(['PERSONAL', 'BUSINESS'], 'must be PERSONAL or BUSINESS'),
  name: v.pipe(text(300), v.minLength(1, 'must not be empty')),
  sortCode: v.pipe(v.string('must be a text'), v.regex(/^\d{6}$/, 'must have six digits')),
  accountNumber: v.pipe(v.string('must be a text'), v.regex(/^\d{8}$/, 'must have eight digits')),
  secondaryIdentification: maybe(text(140)),
});

const FAULTS_REQUEST = v.object({
  latencyMs: maybe(number({ max: 60_000 })),
  errorRate: maybe(number({ max: 1 })),
  cutRate: maybe(number({ max: 1 })),
});

const NO_FAULTS = { latencyMs: 0, errorRate: 0, cutRate: 0 };

/** The routes under `/directory`: the holders of accounts, taken from the sandbox bank's books. */
export function directoryRoutes(bank: Bank): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  let faults = NO_FAULTS;
  const faulty: MiddlewareHandler<{ Bindings: HttpBindings }> = async (c, next) => {
    if (faults.latencyMs > 0) await sleep(faults.latencyMs, undefined, { signal: bank.closing.signal });
    if (Math.random() < faults.errorRate) {
      throw new BankError(503, 'unavailable', 'The directory is away for a moment.');
    }
    if (Math.random() < faults.cutRate) {
      c.env.incoming.socket.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    await next();
  };

  app.post('/name-checks', faulty, async (c) => {
    const request = await readBody(c, NAME_CHECK_REQUEST);
    const asked: NamedParty = {
      name: request.name,
      type: request.accountType === 'BUSINESS' ? 'corporate' : 'individual',
    };
    const { code, holderName } = check(bank, asked, request);
    return answer(c, 200, {
      reference: `SDC-${randomUUID()}`,
      matched: code === 'MATC',
      reasonCode: code === 'MATC' ? null : code,
      name: CODES_WITH_NAME.has(code) ? holderName : null,
    });
  });

  app.get('/faults', (c) => answer(c, 200, faults));
  app.post('/faults', async (c) => {
    const { latencyMs, errorRate, cutRate } = await readBody(c, FAULTS_REQUEST);
    faults = {
      latencyMs: latencyMs ?? faults.latencyMs,
      errorRate: errorRate ?? faults.errorRate,
      cutRate: cutRate ?? faults.cutRate,
    };
    return answer(c, 200, faults);
  });
  app.delete('/faults', (c) => {
    faults = NO_FAULTS;
    return answer(c, 200, faults);
  });
  return app;
}

interface Checked {
  readonly code: DirectoryCode;
  readonly holderName: string;
}

function check(bank: Bank, asked: NamedParty, account: { sortCode: string; accountNumber: string }): Checked {
  if (account.sortCode === MAGIC_SORT_CODE) return magicAnswer(account.accountNumber, asked.type);
  const holder = holderOf(bank, account, asked.type);
  if (holder !== null) return { code: nameMatchCode(asked, holder), holderName: holder.name };
  return { code: account.sortCode === BANK_SORT_CODE ? 'AC01' : 'SCNS', holderName: '' };
}

/** The holder of an open account of the sandbox bank; null if there is none. */
function holderOf(
  bank: Bank,
  account: { sortCode: string; accountNumber: string },
  askedType: HolderType,
): NamedParty | null {
  for (const { status, identifiers, accountHolderName, clientReference } of bank.books.accounts.values()) {
    if (status !== 'open' || identifiers?.accountNumber !== account.accountNumber) continue;
    if (identifiers.routingCodes['sort-code'] !== account.sortCode) continue;
    const client = findClientByReference(bank, clientReference);
    // Clients of an older journal have no type: the requested one is assumed.
    return { name: accountHolderName, type: client?.identityType ?? askedType };
  }
  return null;
}
