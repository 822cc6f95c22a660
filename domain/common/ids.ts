/** Branded ids, so that ids of different things cannot be mixed up. All are lower-case UUIDs. */
declare const brand: unique symbol;

export type Id<Name extends string> = string & { readonly [brand]: Name };

export type ClientId = Id<'Client'>;
export type ClientRelationId = Id<'ClientRelation'>;
export type BeneficiaryId = Id<'Beneficiary'>;
export type BeneficiaryBankAccountId = Id<'BeneficiaryBankAccount'>;
export type BeneficiaryVerificationId = Id<'BeneficiaryVerification'>;
export type AccountId = Id<'Account'>;
export type BalanceAdjustmentId = Id<'BalanceAdjustment'>;
export type ConnectionId = Id<'Connection'>;
export type OutgoingTransferId = Id<'OutgoingTransfer'>;
export type IncomingTransferId = Id<'IncomingTransfer'>;
export type ProvisionedAccountCreditId = Id<'ProvisionedAccountCredit'>;
export type TransferReasonId = Id<'TransferReason'>;
export type UserId = Id<'User'>;
export type UserClientRelationId = Id<'UserClientRelation'>;
export type UserInvitationId = Id<'UserInvitation'>;
/** A sign-up covers the invitations of one e-mail. Its id is that of the first of them. */
export type UserSignUpId = Id<'UserSignUp'>;
export type ThirdPartyProviderId = Id<'ThirdPartyProvider'>;
export type ConsentId = Id<'Consent'>;
export type SigningKeyId = Id<'SigningKey'>;
export type MachineUserId = Id<'MachineUser'>;
export type MachineUserKeyId = Id<'MachineUserKey'>;
export type WebhookSubscriptionId = Id<'WebhookSubscription'>;
export type WebhookDeliveryId = Id<'WebhookDelivery'>;
export type EventId = Id<'Event'>;
export type ReconciliationId = Id<'Reconciliation'>;
export type ReconciliationBreakId = Id<'ReconciliationBreak'>;
export type PersonId = Id<'Person'>;
export type ConsoleSessionId = Id<'ConsoleSession'>;
export type ConsoleViewId = Id<'ConsoleView'>;
export type BankFileId = Id<'BankFile'>;
export type RemedyListId = Id<'RemedyList'>;
export type BankFileRequestId = Id<'BankFileRequest'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Brands text that is already checked or comes from a uuid column. */
export function asId<Branded extends Id<string>>(text: string): Branded {
  return text as Branded;
}
