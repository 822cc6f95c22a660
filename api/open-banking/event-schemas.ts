import * as v from 'valibot';
import { narrowed } from '../http/schemas/narrowed.ts';
import { dateTime, list, uuid } from '../http/schemas/schemas.ts';
import { CONSENT_ACCOUNTS_MAX, consentShown } from './schemas.ts';

// Consents as the events of each type show them.

const unapproved = { userId: v.null(), accounts: v.null(), grantedDateTime: v.null(), expiryDateTime: v.null() };
const approved = { userId: uuid(), accounts: list(uuid(), 1, CONSENT_ACCOUNTS_MAX) };
const granted = { ...approved, grantedDateTime: dateTime(), expiryDateTime: dateTime() };

export const requestedConsent = consent('Requested', { status: v.literal('awaiting-authorisation'), ...unapproved });
export const approvedConsent = consent('Approved', {
  status: v.literal('awaiting-exchange'),
  ...approved,
  grantedDateTime: v.null(),
  expiryDateTime: v.null(),
});
export const authorisedConsent = consent('Authorised', { status: v.literal('authorised'), ...granted });
export const consumedConsent = consent('Consumed', { status: v.literal('consumed'), ...granted });
export const rejectedConsent = consent('Rejected', { status: v.literal('rejected'), ...unapproved });
export const revokedConsent = consent('Revoked', { status: v.literal('revoked'), ...approved });
export const expiredConsent = consent('Expired', { status: v.literal('expired') });

function consent(state: string, entries: v.ObjectEntries) {
  return narrowed(`${state}Consent`, consentShown, entries);
}
