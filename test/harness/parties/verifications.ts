import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { DirectoryCode } from '../../../domain/beneficiaries/verifications.ts';
import type { ApiResponse, Json, TestApi } from '../api.ts';
import { eventually } from '../servers/sandbox.ts';

export const PERSON = { type: 'individual', givenName: 'Grace', familyName: 'Hopperson' };
export const COMPANY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };

/** What a directory's answers look like; a new directory joins every suite with its own. */
export interface DirectoryCase {
  /** An account that matches every name, in the sandbox. */
  readonly bankAccount: Json;
  readonly match: Json;
  readonly close: (name: string | null) => Json;
  /** Answers that are neither a match nor a close match, each with a name that must not be shown. */
  readonly indiscreet: (name: string) => readonly Json[];
  /** Bodies that say nothing. */
  readonly senseless: readonly Json[];
  /** The code that an answer without sense gets; null: it is none. */
  readonly notPossible: string | null;
}

const confirmation = (reasonCode: string | null, name: string | null = null) => ({
  reference: 'r',
  matched: reasonCode === null,
  reasonCode,
  name,
});

export const DIRECTORY_CASES: Readonly<Record<DirectoryCode, DirectoryCase>> = {
  'pay-uk': {
    bankAccount: { accountNumber: '00000001', routingCodes: { 'sort-code': '123456' } },
    match: confirmation(null),
    close: (name) => confirmation('MBAM', name),
    indiscreet: (name) =>
      [null, 'ANNM', 'BANM', 'PANM', 'AC01', 'IVCR', 'ACNS', 'OPTO', 'CASS', 'SCNS'].map((code) =>
        confirmation(code, name),
      ),
    senseless: [
      confirmation('XXXX'),
      confirmation('MATC'),
      { ...confirmation('ANNM'), matched: true },
      { ...confirmation(null), matched: false },
      { matched: 'yes' },
      'not JSON',
    ],
    notPossible: null,
  },
  'eu-vop': {
    bankAccount: { iban: 'DE96999123000000000001' },
    match: { partyNameMatch: 'MTCH' },
    close: (name) => ({ partyNameMatch: 'CMTC', matchedName: name }),
    indiscreet: (name) => ['MTCH', 'NMTC', 'NOAP'].map((code) => ({ partyNameMatch: code, matchedName: name })),
    senseless: [
      { partyNameMatch: 'XXXX' },
      { partyNameMatch: 'mtch' },
      { partyNameMatch: true },
      { partyNameMatch: null },
      { partyIdMatch: 'MTCH' },
      { matched: true },
      {},
      [],
      'not JSON',
    ],
    notPossible: 'NOAP',
  },
};

export interface Asking {
  /** `pay-uk` by default. */
  readonly directory?: DirectoryCode;
  readonly identity?: Json;
  readonly accountNumber?: string;
  readonly sortCode?: string;
  /** Overrides fields of `data.beneficiary`. */
  readonly beneficiary?: Json;
  readonly connect?: Json;
  readonly key?: string;
  /** An API other than the default. */
  readonly at?: TestApi;
}

export interface Verifications {
  verify(asking?: Asking): Promise<ApiResponse>;
  verified(asking?: Asking): Promise<Json>;
  /** The stored verifications, in the order of the requests. */
  stored(): Promise<Json[]>;
}

/** Verifies an account that matches every name, unless the test says otherwise. */
export function verificationsOf(api: TestApi, clientId: () => string): Verifications {
  const verify = (asking: Asking = {}): Promise<ApiResponse> => {
    const { identity = PERSON, accountNumber = '00000001', sortCode = '123456', at = api, key, connect } = asking;
    const { directory = 'pay-uk' } = asking;
    const bankAccount =
      directory === 'pay-uk'
        ? { accountNumber, routingCodes: { 'sort-code': sortCode } }
        : DIRECTORY_CASES[directory].bankAccount;
    const body = {
      workflow: { code: `client.${directory}.cop` },
      data: { beneficiary: { clientId: clientId(), identity, bankAccount, ...asking.beneficiary } },
      ...(connect === undefined ? {} : { connect }),
    };
    return at.call('POST', '/beneficiary-verifications', body, key === undefined ? {} : { key });
  };
  return {
    verify,
    verified: async (asking) => {
      const answer = await verify(asking);
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.beneficiaryVerification;
    },
    stored: () => api.database.statement('select * from beneficiary_verifications order by created_at, id', []),
  };
}

/** An account that the sandbox bank opens for a client of its own, as its books hold it. */
export async function openAtBank(
  sandboxUrl: string,
  identityType: string,
  name: string,
  place: { readonly currency: string; readonly country: string } = { currency: 'GBP', country: 'GB' },
): Promise<Json> {
  const send = async (path: string, body: Json): Promise<Json> =>
    (await fetch(`${sandboxUrl}/bank${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const client = await send('/clients', {
    ourReference: randomUUID(),
    identityType,
    fullName: name,
    country: place.country,
  });
  const ourReference = randomUUID();
  await send('/accounts', {
    ourReference,
    clientReference: client.reference,
    accountHolderName: name,
    alias: `${place.currency} Account`,
    ...place,
  });
  return eventually('the opening', async () => {
    const account: Json = await (await fetch(`${sandboxUrl}/bank/accounts/${ourReference}`)).json();
    return account.status === 'open' ? account : undefined;
  });
}
