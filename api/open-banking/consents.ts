import * as v from 'valibot';
import { approveConsent } from '../../db/open-banking/approvals.ts';
import {
  findShownConsent,
  listConsents,
  rejectConsent,
  revokeConsent,
  showConsent,
} from '../../db/open-banking/consents.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { AccountId, ConsentId, UserId } from '../../domain/common/ids.ts';
import type { Country } from '../../domain/common/parties/countries.ts';
import { redirectLocation } from '../../domain/open-banking/redirects.ts';
import { hashOf, newSecret } from '../http/requests/third-parties/assertions.ts';
import { route } from '../http/route.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf, only } from '../http/schemas/one-of.ts';
import { country, fields, list, optional, uuid } from '../http/schemas/schemas.ts';
import { idTokenSigner } from './id-tokens.ts';
import { CONSENT_ACCOUNTS_MAX, CONSENT_EXAMPLE, consentShown, location } from './schemas.ts';

const TAG = 'Open banking consents';

/** The only country that has consents. */
export const COUNTRY = 'GB';

/** Throws `consent.country.not_supported` for any other country. */
export function requireOpenBankingCountry(countryCode: Country): void {
  if (countryCode === COUNTRY) return;
  const message = `Open banking consents are available only in ${COUNTRY}.`;
  throw rejection('consent.country.not_supported', ['consent', 'countryCode', countryCode], message);
}

const one = { countryCode: country(), id: uuid<ConsentId>() };

const getConsent = route(
  {
    method: 'GET',
    path: '/open-banking/{countryCode}/consents/{id}',
    operationId: 'getConsent',
    summary: 'Get a consent',
    tag: TAG,
    params: one,
    response: fields({ consent: consentShown }),
    errors: ['common.coding.internal.record_not_found', 'consent.country.not_supported'],
    examples: { response: { consent: CONSENT_EXAMPLE } },
  },
  async ({ params: { countryCode, id }, services }) => {
    requireOpenBankingCountry(countryCode);
    const consent = await findShownConsent(services.database.reader, id);
    if (consent === null) throw recordNotFound('consent', 'id', id);
    return { data: { consent } };
  },
);

const getConsents = route(
  {
    method: 'GET',
    path: '/open-banking/{countryCode}/consents',
    operationId: 'listConsents',
    summary: 'List consents in order of request',
    description: 'A consent belongs to a user once that user has approved it.',
    tag: TAG,
    paged: true,
    params: { countryCode: country() },
    query: { 'data.consent.userId': optional(uuid<UserId>()), 'workflow.code': optional(only('direct')) },
    response: fields({ consents: list(consentShown, 0, 100) }),
    errors: ['consent.country.not_supported'],
    examples: { response: { consents: [CONSENT_EXAMPLE] } },
  },
  async ({ params, query, page, services }) => {
    requireOpenBankingCountry(params.countryCode);
    const { reader } = services.database;
    const { rows, totalElements } = await listConsents(reader, { userId: query['data.consent.userId'] }, page);
    return { data: { consents: rows }, totalElements };
  },
);

/** Each account may be named once. */
const accountIds = v.pipe(
  list(uuid<AccountId>(), 1, CONSENT_ACCOUNTS_MAX),
  v.check((ids) => new Set(ids).size === ids.length, 'must not name an account twice'),
);

/** Optional repetition of the id in the path. */
const consentId = optional(uuid<ConsentId>());

const actionSent = named(
  'ConsentAction',
  oneOf(
    'action',
    [
      named(
        'ConsentApproval',
        fields({ action: only('approve'), consentId, userId: uuid<UserId>(), accounts: accountIds }),
      ),
      named('ConsentRejection', fields({ action: only('reject'), consentId })),
      named('ConsentRevocation', fields({ action: only('revoke'), consentId })),
    ],
    'action approve, reject or revoke',
  ),
);

/** The interface has two names for the action. */
const underEitherName = v.pipe(
  fields({ consent: optional(actionSent), accountOpenBankingConsent: optional(actionSent) }),
  rejectConflicts(({ consent, accountOpenBankingConsent }) => {
    if (consent === undefined && accountOpenBankingConsent === undefined) {
      const message = 'common.validation.field_required: is required, or data.accountOpenBankingConsent is';
      return [{ path: ['consent'], value: undefined, message }];
    }
    if (consent === undefined || accountOpenBankingConsent === undefined) return [];
    const message = 'common.validation.mutually_exclusive: cannot be sent together with data.consent';
    return [{ path: ['accountOpenBankingConsent'], value: accountOpenBankingConsent, message }];
  }),
);

const APPROVAL_EXAMPLE = {
  action: 'approve',
  userId: CONSENT_EXAMPLE.userId,
  accounts: CONSENT_EXAMPLE.accounts,
};

const LOCATION_EXAMPLE = 'https://app.example.com/callback#code=kZ3&state=af0ifjsldkj&id_token=eyJ0.eyJz.c2ln';

/** The redirect address of an approval or rejection, or the revoked consent. */
const outcome = named('ConsentOutcome', fields({ location: optional(location()), consent: optional(consentShown) }));

const patchConsent = route(
  {
    method: 'PATCH',
    path: '/open-banking/{countryCode}/consents/{id}',
    operationId: 'updateConsent',
    summary: 'Approve, reject or revoke a consent',
    description:
      'An approval or rejection returns the address to which the account holder’s browser must be redirected; after an approval it contains a code that the third party can exchange once, within a minute. A revocation returns the consent. Send the action as `consent` or `accountOpenBankingConsent`.',
    tag: TAG,
    roles: ['operator'],
    params: one,
    workflows: { direct: { data: underEitherName } },
    response: fields({ resource: outcome }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.validation.mutually_exclusive',
      'consent.country.not_supported',
      'consent.status.invalid',
      'consent.accounts.limit_exceeded',
      'user.client_relation.not_allowed',
      'user.status.not_active',
      'account.currency.mismatch',
      'account.status.not_active',
      'client.status.not_active',
      'third_party_provider.status.not_active',
      'third_party_provider.redirect_uri.not_registered',
    ],
    examples: {
      requests: { direct: { data: { consent: APPROVAL_EXAMPLE } } },
      moreRequests: {
        reject: { code: 'direct', data: { consent: { action: 'reject' } } },
        revoke: { code: 'direct', data: { accountOpenBankingConsent: { action: 'revoke' } } },
      },
      response: { resource: { location: LOCATION_EXAMPLE } },
    },
  },
  async ({ params: { countryCode, id }, body, initiator, services, transaction }) => {
    requireOpenBankingCountry(countryCode);
    const sent = body.data.consent ?? body.data.accountOpenBankingConsent;
    if (sent === undefined) throw new Error('a body without an action passed its schema');
    requireSameId(id, sent.consentId);
    if (sent.action === 'revoke') {
      return transaction(async (tx) => {
        const consent = await revokeConsent(tx, id, initiator);
        return { data: { resource: { consent: await showConsent(tx, consent) } } };
      });
    }
    const sign = await idTokenSigner(services);
    if (sent.action === 'reject') {
      return transaction(async (tx) => {
        const consent = await rejectConsent(tx, id, initiator);
        const { redirectUri, state } = consent;
        const id_token = await sign(consent, { state });
        return {
          data: { resource: { location: redirectLocation(redirectUri, { error: 'access_denied', state, id_token }) } },
        };
      });
    }
    const code = newSecret();
    const codeHash = hashOf(code);
    const { userId, accounts } = sent;
    return transaction(async (tx) => {
      const consent = await approveConsent(tx, id, { userId, accountIds: accounts, codeHash }, initiator);
      const { redirectUri, state } = consent;
      const id_token = await sign(consent, { code, state });
      return { data: { resource: { location: redirectLocation(redirectUri, { code, state, id_token }) } } };
    });
  },
);

function requireSameId(id: ConsentId, sent: ConsentId | undefined): void {
  if (sent === undefined || sent === id) return;
  const message = 'data.consent.consentId is not the id in the path.';
  throw rejection('common.validation.field_invalid', ['consent', 'consentId', sent], message);
}

export const consentRoutes = [getConsent, getConsents, patchConsent];
