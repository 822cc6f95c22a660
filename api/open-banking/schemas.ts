import { CONSENT_SCOPES, CONSENT_STATUSES, PAYMENT_SCOPES, PAYMENT_TYPES } from '../../domain/open-banking/consents.ts';
import { named } from '../frame/schemas/named.ts';
import { amount, currency, dateTime, fields, list, nullable, picklist, text, uuid } from '../frame/schemas/schemas.ts';

/** Most accounts of one consent. */
export const CONSENT_ACCOUNTS_MAX = 100;

export const creditorAccountShown = named(
  'CreditorAccount',
  fields({ schemeName: text(40), identification: text(34), name: text(140) }),
);

/** A consent to accounts has a scope alone; the fields of a payment are null. */
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
