import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { isComparable } from '../../domain/beneficiaries/directories.ts';
import { isUuid } from '../../domain/common/ids.ts';
import type { Bank } from '../bank/bank.ts';
import { BankError, iban, readBody, text } from '../bank/wire.ts';
import { type Holder, holderOf } from './holders.ts';
import { magicPayee } from './magic-accounts.ts';
import { type PayeeMatchCode, payeeMatchCode } from './name-matching.ts';

/**
 * A routing and verification service of the European Payments Council's Verification of Payee: the resource, headers, fields and errors of the
 * scheme between payment service providers. It finds the bank of an IBAN itself, so that `partyAgent` may be absent.
 */
const bic = v.pipe(v.string('must be a text'), v.regex(/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/, 'must be a BIC'));
const agent = v.strictObject({ financialInstitutionId: v.strictObject({ bicfi: bic }) });
const filled = (lengthMax: number) => v.pipe(text(lengthMax), v.regex(/\S/, 'must not be empty'));

/** ISO 20022's external codes that say what an organisation's identification is. */
const SCHEME_NAME_CODES = ['TXID', 'COID', 'EMPL', 'CUST', 'DUNS', 'GS1G', 'SREN', 'SRET', 'BDID', 'BOID'] as const;

const organisationId = v.pipe(
  v.strictObject({
    lei: v.optional(
      v.pipe(
        v.string('must be a text'),
        v.check((lei) => isComparable({ type: 'lei', identificationNumber: lei }), 'must be a legal entity identifier'),
      ),
    ),
    anyBIC: v.optional(bic),
    others: v.optional(
      v.pipe(
        v.array(
          v.strictObject({
            identification: filled(256),
            schemeNameCode: v.picklist(SCHEME_NAME_CODES, 'must be a code of ISO 20022'),
          }),
        ),
        v.length(1, 'must have one entry'),
      ),
    ),
  }),
  v.check((given) => Object.keys(given).length === 1, 'must have one of lei, anyBIC and others'),
);

const REQUEST = v.strictObject({
  party: v.pipe(
    v.strictObject({
      name: v.optional(filled(140)),
      identification: v.optional(v.strictObject({ organisationId })),
    }),
    v.check((party) => Object.keys(party).length > 0, 'must have a name or an identification'),
  ),
  partyAccount: v.strictObject({ iban: iban() }),
  partyAgent: v.optional(agent),
  unstructuredRemittanceInformation: v.optional(
    v.pipe(v.array(filled(140)), v.maxLength(1, 'must have one entry at most')),
  ),
  requestingAgent: agent,
});

type Request = v.InferOutput<typeof REQUEST>;
type Identification = NonNullable<Request['party']['identification']>;

/** Of the statuses that this service answers with. */
const TITLES = { 400: 'Bad Request', 401: 'Unauthorized', 413: 'Content Too Large' } as const;

/** The participants whose banks send requests through this service. */
const PARTICIPANT = /^SBNK/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

export function payeeVerificationRoutes(bank: Bank): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.post('/payee-verifications', async (c) => {
    const requestId = c.req.header('x-request-id') ?? '';
    if (!isUuid(requestId.toLowerCase())) return problem(c, 400, 'FORMAT_ERROR', 'X-Request-ID must be a UUID.');
    const timestamp = c.req.header('x-request-timestamp') ?? '';
    if (!INSTANT.test(timestamp) || Number.isNaN(Date.parse(timestamp))) {
      return problem(c, 400, 'TIMESTAMP_INVALID', 'X-Request-Timestamp must be an instant of ISO 8601.');
    }
    const request = await readBody(c, REQUEST).catch(rejectionOf);
    if (request instanceof BankError) {
      return problem(c, request.status === 413 ? 413 : 400, 'FORMAT_ERROR', request.message);
    }
    if (!PARTICIPANT.test(request.requestingAgent.financialInstitutionId.bicfi)) {
      return problem(c, 401, 'CLIENT_INVALID', 'The requesting agent is no participant of this service.');
    }
    c.header('X-Request-ID', requestId);
    c.header('X-Response-Timestamp', new Date().toISOString());
    return c.json(verification(bank, request));
  });
  return app;
}

function rejectionOf(error: unknown): BankError {
  if (error instanceof BankError) return error;
  throw error;
}

/** RFC 9457, with the scheme's code. */
function problem(c: Context, status: keyof typeof TITLES, code: string, detail: string) {
  const body = { type: `https://rvm.example/problems/${code}`, code, title: TITLES[status], status, detail };
  return c.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' });
}

interface Verification {
  readonly partyNameMatch?: PayeeMatchCode | 'XXXX';
  readonly partyIdMatch?: Exclude<PayeeMatchCode, 'CMTC'> | 'XXXX';
  /** Only with a close match. */
  readonly matchedName?: string;
}

function verification(bank: Bank, { party: { name, identification }, partyAccount }: Request): Verification {
  const magic = magicPayee(partyAccount.iban);
  if (magic !== null) {
    const { partyNameMatch, matchedName } = magic;
    // An identifier is right or wrong.
    if (identification !== undefined) return { partyIdMatch: partyNameMatch === 'CMTC' ? 'NMTC' : partyNameMatch };
    return matchedName === undefined ? { partyNameMatch } : { partyNameMatch, matchedName };
  }
  const holder = holderOf(bank, (held) => held.iban === partyAccount.iban, 'individual');
  if (identification !== undefined) return { partyIdMatch: identificationMatch(identification, holder) };
  if (holder === null || name === undefined) return { partyNameMatch: 'NOAP' };
  const partyNameMatch = payeeMatchCode(name, holder);
  return partyNameMatch === 'CMTC' ? { partyNameMatch, matchedName: holder.name } : { partyNameMatch };
}

/** A bank that knows no identifier of its client cannot compare one. */
function identificationMatch(
  { organisationId: { lei, others } }: Identification,
  holder: Holder | null,
): 'MTCH' | 'NMTC' | 'NOAP' {
  const asked = lei ?? others?.[0]?.identification;
  const known = (holder?.identifications ?? []).flatMap(({ identificationNumber: number }) => number ?? []);
  if (asked === undefined || known.length === 0) return 'NOAP';
  return known.some((number) => normal(number) === normal(asked)) ? 'MTCH' : 'NMTC';
}

function normal(number: string): string {
  return number.replace(/[\s.-]/g, '').toUpperCase();
}
