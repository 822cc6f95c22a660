import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import * as v from 'valibot';
import type { Bank } from '../bank/bank.ts';
import { SORT_CODE as BANK_SORT_CODE } from '../bank/identifiers.ts';
import { answer, maybe, readBody, text } from '../bank/wire.ts';
import { directoryFaults } from './faults.ts';
import { holderOf } from './holders.ts';
import { CODES_WITH_NAME, type DirectoryCode, MAGIC_SORT_CODE, magicAnswer } from './magic-accounts.ts';
import { type NamedParty, nameMatchCode } from './name-matching.ts';
import { payeeVerificationRoutes } from './payee-verifications.ts';

const NAME_CHECK_REQUEST = v.object({
  accountType: v.picklist(['PERSONAL', 'BUSINESS'], 'must be PERSONAL or BUSINESS'),
  name: v.pipe(text(300), v.minLength(1, 'must not be empty')),
  sortCode: v.pipe(v.string('must be a text'), v.regex(/^\d{6}$/, 'must have six digits')),
  accountNumber: v.pipe(v.string('must be a text'), v.regex(/^\d{8}$/, 'must have eight digits')),
  secondaryIdentification: maybe(text(140)),
});

/** The routes under `/directory`: the holders of accounts, taken from the sandbox bank's books, as each scheme asks for them. */
export function directoryRoutes(bank: Bank): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const faulty = directoryFaults(app, bank);

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

  app.use('/vop/*', faulty);
  app.route('/vop/v1', payeeVerificationRoutes(bank));
  return app;
}

interface Checked {
  readonly code: DirectoryCode;
  readonly holderName: string;
}

function check(bank: Bank, asked: NamedParty, account: { sortCode: string; accountNumber: string }): Checked {
  const { sortCode, accountNumber } = account;
  if (sortCode === MAGIC_SORT_CODE) return magicAnswer(accountNumber, asked.type);
  const holder = holderOf(
    bank,
    (identifiers) => identifiers.accountNumber === accountNumber && identifiers.routingCodes['sort-code'] === sortCode,
    asked.type,
  );
  if (holder !== null) return { code: nameMatchCode(asked, holder), holderName: holder.name };
  return { code: sortCode === BANK_SORT_CODE ? 'AC01' : 'SCNS', holderName: '' };
}
