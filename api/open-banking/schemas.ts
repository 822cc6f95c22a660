import { CONSENT_SCOPES, CONSENT_STATUSES, PAYMENT_SCOPES, PAYMENT_TYPES } from '../../domain/open-banking/consents.ts';
import { named } from '../http/schemas/named.ts';
import {
  amount,
  currency,
  dateTime,
  fields,
  list,
  nullable,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

/** Most accounts of one consent. */
export const CONSENT_ACCOUNTS_MAX = 100;

export const creditorAccountShown = named(
  'CreditorAccount',
  fields({ schemeName: text(40), identification: text(42), name: text(140) }),
);

/** A consent to accounts has only a scope; the payment fields are null. */
export const consentContentShown = named(
  'ConsentContent',
  fields({
    scope: named('ConsentScope', picklist(CONSENT_SCOPES)),
    paymentScope: nullable(picklist(PAYMENT_SCOPES)),
    paymentType: nullable(picklist(PAYMENT_TYPES)),
    instructedAmount: nullable(amount()),
    instructedCurrency: nullable(currency()),
    creditorAccount: nullable(creditorAccountShown),
    currencyOfTransfer: nullable(currency()),
    requestedExecutionDateTime: nullable(dateTime()),
  }),
);

export const consentShown = named(
  'Consent',
  fields({
    id: uuid(),
    thirdPartyProvider: named(
      'ConsentThirdPartyProvider',
      fields({
        name: text(140),
        website: text(2048),
        applicationName: text(140),
        applicationDescription: text(1000),
        applicationWebsite: text(2048),
      }),
    ),
    status: named('ConsentStatus', picklist(CONSENT_STATUSES)),
    content: consentContentShown,
    userId: nullable(uuid()),
    accounts: nullable(list(uuid(), 1, CONSENT_ACCOUNTS_MAX)),
    requestCreatedDateTime: dateTime(),
    requestExpiryDateTime: dateTime(),
    grantedDateTime: nullable(dateTime()),
    expiryDateTime: nullable(dateTime()),
  }),
);

/** An address whose fragment contains the response for the third party. */
export function location() {
  return pattern(/^https?:\/\/[^\s#]+#[^\s#]+$/, 'an address with a fragment');
}

export const CONSENT_EXAMPLE = {
  id: '0199c4d2-3f10-7c44-8a51-2b6d9e0f7a31',
  thirdPartyProvider: {
    name: 'Budget Ltd',
    website: 'https://budget.example.com',
    applicationName: 'Budget',
    applicationDescription: 'Shows where the money goes',
    applicationWebsite: 'https://app.example.com',
  },
  status: 'authorised',
  content: {
    scope: 'accounts',
    paymentScope: null,
    paymentType: null,
    instructedAmount: null,
    instructedCurrency: null,
    creditorAccount: null,
    currencyOfTransfer: null,
    requestedExecutionDateTime: null,
  },
  userId: '0199c4b1-1d20-7f10-8b65-6a4f0e9b2c11',
  accounts: ['0199c4a2-6e11-7d5a-b0f3-9c8e7d6a5b41'],
  requestCreatedDateTime: '2026-03-02T09:30:00',
  requestExpiryDateTime: '2026-03-02T09:40:00',
  grantedDateTime: '2026-03-02T09:32:10',
  expiryDateTime: '2026-05-31T09:32:10',
};
