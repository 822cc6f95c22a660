import { readClock } from '../../db/common/clock.ts';
import { requestConsent, showConsent } from '../../db/open-banking/consents.ts';
import { rejection } from '../../domain/common/errors.ts';
import { PAYMENT_SCOPES, PAYMENT_TYPES, type PaymentContent } from '../../domain/open-banking/consents.ts';
import { CREDITOR_SCHEMES, creditorBankAccount, readContent } from '../../domain/open-banking/requests.ts';
import { WEB_ADDRESS_LENGTH_MAX } from '../../domain/third-party-providers/third-party-providers.ts';
import { modulusMetadata } from '../beneficiaries/uk-modulus-check.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf, only } from '../http/schemas/one-of.ts';
import { partyName } from '../http/schemas/parties.ts';
import {
  amount,
  country,
  currency,
  dateTime,
  fields,
  optional,
  pattern,
  picklist,
  text,
} from '../http/schemas/schemas.ts';
import { thirdPartyRoute } from '../http/third-party-route.ts';
import { requireOpenBankingCountry } from './consents.ts';
import { CONSENT_EXAMPLE, consentShown } from './schemas.ts';

export const creditorAccountSent = named(
  'CreditorAccount',
  fields({ schemeName: picklist(CREDITOR_SCHEMES), identification: text(42), name: partyName() }),
);

const contentSent = named(
  'ConsentContent',
  oneOf(
    'scope',
    [
      named('AccountsConsentContent', fields({ scope: only('accounts') })),
      named(
        'PaymentsConsentContent',
        fields({
          scope: only('payments'),
          paymentScope: picklist(PAYMENT_SCOPES),
          paymentType: picklist(PAYMENT_TYPES),
          instructedAmount: amount(),
          instructedCurrency: currency(),
          creditorAccount: creditorAccountSent,
          currencyOfTransfer: optional(currency()),
          requestedExecutionDateTime: optional(dateTime()),
        }),
      ),
    ],
    'scope accounts or payments',
  ),
);

/** Values that this service returns unchanged: printable ASCII. */
const opaque = (lengthMax: number) =>
  pattern(new RegExp(`^[\\x20-\\x7e]{1,${lengthMax}}$`), `1 to ${lengthMax} printable ASCII characters`);

export const CREDITOR_EXAMPLE = {
  schemeName: 'UK.OBIE.SortCodeAccountNumber',
  identification: '60161331926819',
  name: 'Brook Lane Bakery Ltd',
} as const;

const UNANSWERED = {
  status: 'awaiting-authorisation',
  userId: null,
  accounts: null,
  grantedDateTime: null,
  expiryDateTime: null,
} as const;

const postConsent = thirdPartyRoute(
  {
    method: 'POST',
    path: '/open-banking/{countryCode}/consents',
    operationId: 'requestConsent',
    summary: 'Request a consent from an account holder',
    description:
      'The bearer token is signed by the third-party provider itself. The account holder answers within 10 minutes, through the operator of this service, and is redirected to `redirectUri`, which must match a registered address character by character.',
    tag: 'Open banking consents',
    params: { countryCode: country() },
    workflows: {
      direct: {
        data: fields({
          consent: named(
            'ConsentRequest',
            fields({
              content: contentSent,
              redirectUri: pattern(
                new RegExp(`^https?://[\\x21-\\x7e]{1,${WEB_ADDRESS_LENGTH_MAX}}$`),
                'a registered redirect address',
              ),
              state: opaque(1_024),
              nonce: opaque(255),
            }),
          ),
        }),
      },
    },
    response: fields({ consent: consentShown }),
    errors: ['consent.country.not_supported', 'third_party_provider.redirect_uri.not_registered'],
    examples: {
      requests: {
        direct: {
          data: {
            consent: {
              content: {
                scope: 'payments',
                paymentScope: 'domestic',
                paymentType: 'standard',
                instructedAmount: 10.5,
                instructedCurrency: 'GBP',
                creditorAccount: CREDITOR_EXAMPLE,
              },
              redirectUri: 'https://app.budgets.example/callback',
              state: 'af0ifjsldkj',
              nonce: 'n-0S6_WzA2Mj',
            },
          },
        },
      },
      moreRequests: {
        accounts: {
          code: 'direct',
          data: {
            consent: {
              content: { scope: 'accounts' },
              redirectUri: 'https://app.budgets.example/callback',
              state: 'af0ifjsldkj',
              nonce: 'n-0S6_WzA2Mj',
            },
          },
        },
      },
      response: { consent: { ...CONSENT_EXAMPLE, ...UNANSWERED } },
    },
  },
  async ({ params, body, thirdParty, initiator, services, transaction }) => {
    requireOpenBankingCountry(params.countryCode);
    const { content: sent, redirectUri, state, nonce } = body.data.consent;
    const { transferDateYearsMax } = services.configuration;
    return transaction(async (tx) => {
      const now = await readClock(tx);
      const content = readContent(sent, { now, transferDateYearsMax });
      if (!thirdParty.redirectUris.includes(redirectUri)) throw notRegistered();
      const metadata = content.scope === 'accounts' ? {} : modulusMetadata(services, [placedCreditor(content)]);
      const request = { thirdPartyProviderId: thirdParty.id, content, redirectUri, state, nonce };
      const consent = await requestConsent(tx, request, initiator, now);
      return { data: { consent: await showConsent(tx, consent) }, metadata };
    });
  },
);

function placedCreditor({ creditorAccount, instructedCurrency }: PaymentContent) {
  const account = creditorBankAccount(creditorAccount, instructedCurrency);
  return { account, entity: 'consent', prefix: 'content.creditorAccount.' };
}

function notRegistered() {
  const message = 'data.consent.redirectUri is not registered for the third-party provider.';
  return rejection('third_party_provider.redirect_uri.not_registered', ['consent', 'redirectUri', ''], message);
}

export const consentRequestRoutes = [postConsent];
