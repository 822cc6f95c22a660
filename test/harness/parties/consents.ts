import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { readClock } from '../../../db/common/clock.ts';
import { type ConsentRow, requestConsent } from '../../../db/open-banking/consents.ts';
import { consumeConsent, type Exchanged, exchangeCode } from '../../../db/open-banking/grants.ts';
import { asId, type ThirdPartyProviderId } from '../../../domain/common/ids.ts';
import type { Currency } from '../../../domain/common/money.ts';
import type { ConsentContent, PaymentContent } from '../../../domain/open-banking/consents.ts';
import type { ApiResponse, CallOptions, Json, TestApi } from '../api.ts';
import { TESTER } from '../audit.ts';
import { newKey } from './third-parties.ts';

export const ACCOUNTS: ConsentContent = { scope: 'accounts' };
export const PAYMENT: PaymentContent = {
  scope: 'payments',
  paymentScope: 'domestic',
  paymentType: 'standard',
  instructedAmountMinor: 1_050n,
  instructedCurrency: 'GBP' as Currency,
  creditorAccount: {
    schemeName: 'UK.OBIE.SortCodeAccountNumber',
    identification: '60161331926819',
    name: 'Brook Lane Bakery Ltd',
  },
  currencyOfTransfer: null,
  requestedExecutionAt: null,
};

export const REDIRECT_URI = 'https://budget.example.com/callback?tenant=1&empty=';

/** What a browser would carry to the third party. */
export interface Redirect {
  readonly to: string;
  readonly code: string | null;
  readonly state: string | null;
  readonly error: string | null;
  readonly idToken: string;
}

/** Third parties, their requests, and account holders who answer them. */
export function consentWorld(api: TestApi) {
  const { database } = api;
  const world = {
    thirdParty: async (change: { redirectUris?: string[]; status?: string } = {}): Promise<ThirdPartyProviderId> => {
      const id = randomUUID();
      await database.transaction((tx) =>
        tx.statement(
          `INSERT INTO third_party_providers (id, name, website, application_name, application_description, application_website,
             redirect_uris, jwks, status, created_at, updated_at, active_since)
           VALUES ($1, 'Budget Ltd', 'https://budget.example.com', 'Budget', 'Shows where the money goes', 'https://app.example.com',
             $2, $4::text::jsonb, $3, service_now(), service_now(), service_now())`,
          [
            id,
            change.redirectUris ?? [REDIRECT_URI],
            change.status ?? 'active',
            JSON.stringify({ keys: [newKey().jwk] }),
          ],
        ),
      );
      return asId<ThirdPartyProviderId>(id);
    },
    request: async (
      thirdPartyProviderId: ThirdPartyProviderId,
      content: ConsentContent = ACCOUNTS,
      more: { redirectUri?: string; state?: string; nonce?: string } = {},
    ): Promise<ConsentRow> => {
      const { redirectUri = REDIRECT_URI, state = 'state & more', nonce = 'n-0S6_WzA2Mj' } = more;
      const request = { thirdPartyProviderId, content, redirectUri, state, nonce };
      return database.transaction(async (tx) => requestConsent(tx, request, TESTER, await readClock(tx)));
    },
    /** A user who may act for these clients. */
    user: async (clientIds: readonly string[]): Promise<string> => {
      const user = {
        email: `${randomUUID()}@example.com`,
        identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' },
      };
      const userClientRelations = clientIds.map((clientId) => ({ clientId }));
      const workflow = { code: 'human.external.direct' };
      const answer = await api.call('POST', '/users', { workflow, data: { user, userClientRelations } });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.user.id;
    },
    find: async (id: string): Promise<Json> => {
      const answer = await api.call('GET', `/open-banking/GB/consents/${id}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data.consent;
    },
    decide: (id: string, consent: Json, options?: CallOptions): Promise<ApiResponse> =>
      api.call(
        'PATCH',
        `/open-banking/GB/consents/${id}`,
        { workflow: { code: 'direct' }, data: { consent } },
        options,
      ),
    approve: async (id: string, userId: string, accounts: readonly string[]): Promise<Redirect> => {
      const answer = await world.decide(id, { action: 'approve', userId, accounts });
      expect(answer.status, answer.text).toBe(200);
      return redirectOf(answer);
    },
    /** As the third party of the consent, unless another is given. */
    exchange: (
      { thirdPartyProviderId, redirectUri }: Pick<ConsentRow, 'thirdPartyProviderId' | 'redirectUri'>,
      code: string | null,
      token = randomBytes(32).toString('base64url'),
    ): Promise<Exchanged> => {
      const hashes = { codeHash: hashOf(code ?? ''), tokenHash: hashOf(token) };
      const exchange = { thirdPartyProviderId, redirectUri, keyThumbprint: null, ...hashes };
      return database.transaction((tx) => exchangeCode(tx, exchange, TESTER));
    },
    consume: (id: ConsentRow['id']) => database.transaction((tx) => consumeConsent(tx, id, TESTER)),
  };
  return world;
}

export type ConsentWorld = ReturnType<typeof consentWorld>;

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function redirectOf(answer: ApiResponse): Redirect {
  const [to = '', fragment = ''] = answer.body.data.resource.location.split('#');
  const given = new URLSearchParams(fragment);
  return {
    to,
    code: given.get('code'),
    state: given.get('state'),
    error: given.get('error'),
    idToken: given.get('id_token') ?? '',
  };
}
