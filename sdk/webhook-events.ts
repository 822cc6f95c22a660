// What webhooks carry, as types. Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/webhook-types.test.ts

/** Each webhook by `<module>.<type>`. */
export interface WebhookEvents {
  readonly 'incoming-transfers.incoming-transfer-pending': IncomingTransferPendingEvent;
  readonly 'incoming-transfers.incoming-transfer-compliance-in-review': IncomingTransferComplianceInReviewEvent;
  readonly 'incoming-transfers.incoming-transfer-completed': IncomingTransferCompletedEvent;
  readonly 'incoming-transfers.incoming-transfer-failed': IncomingTransferFailedEvent;
  readonly 'incoming-transfers.incoming-transfer-on-hold': IncomingTransferOnHoldEvent;
  readonly 'outgoing-transfers.outgoing-transfer-created': OutgoingTransferCreatedEvent;
  readonly 'outgoing-transfers.outgoing-transfer-compliance-in-review': OutgoingTransferComplianceInReviewEvent;
  readonly 'outgoing-transfers.outgoing-transfer-processing': OutgoingTransferProcessingEvent;
  readonly 'outgoing-transfers.outgoing-transfer-released': OutgoingTransferReleasedEvent;
  readonly 'outgoing-transfers.outgoing-transfer-completed': OutgoingTransferCompletedEvent;
  readonly 'outgoing-transfers.outgoing-transfer-cancelled': OutgoingTransferCancelledEvent;
  readonly 'outgoing-transfers.outgoing-transfer-failed': OutgoingTransferFailedEvent;
  readonly 'outgoing-transfers.outgoing-transfer-returned': OutgoingTransferReturnedEvent;
  readonly 'outgoing-transfers.outgoing-transfer-recall-refused': OutgoingTransferRecallRefusedEvent;
  readonly 'accounts.account-activated': AccountActivatedEvent;
  readonly 'accounts.account-inactivated': AccountInactivatedEvent;
  readonly 'accounts.account-suspended': AccountSuspendedEvent;
  readonly 'accounts.account-closed': AccountClosedEvent;
  readonly 'accounts.account-declined': AccountDeclinedEvent;
  readonly 'accounts.account-information-updated': AccountInformationUpdatedEvent;
  readonly 'accounts.connection-creation-instructed': AccountConnectionCreationInstructedEvent;
  readonly 'accounts.connection-created': AccountConnectionCreatedEvent;
  readonly 'accounts.connection-creation-failed': AccountConnectionCreationFailedEvent;
  readonly 'accounts.connection-update-instructed': AccountConnectionUpdateInstructedEvent;
  readonly 'accounts.connection-updated': AccountConnectionUpdatedEvent;
  readonly 'accounts.connection-update-failed': AccountConnectionUpdateFailedEvent;
  readonly 'clients.created': ClientCreatedEvent;
  readonly 'clients.connection-created': ClientConnectionCreatedEvent;
  readonly 'clients.status-changed': ClientStatusChangedEvent;
  readonly 'open-banking-consents.consent-requested': ConsentRequestedEvent;
  readonly 'open-banking-consents.consent-approved': ConsentApprovedEvent;
  readonly 'open-banking-consents.consent-authorised': ConsentAuthorisedEvent;
  readonly 'open-banking-consents.consent-rejected': ConsentRejectedEvent;
  readonly 'open-banking-consents.consent-revoked': ConsentRevokedEvent;
  readonly 'open-banking-consents.consent-expired': ConsentExpiredEvent;
  readonly 'open-banking-consents.consent-consumed': ConsentConsumedEvent;
  readonly 'users.user-created': UserCreatedEvent;
  readonly 'users.user-updated': UserUpdatedEvent;
  readonly 'beneficiaries.beneficiary-created': BeneficiaryCreatedEvent;
  readonly 'beneficiaries.beneficiary-updated': BeneficiaryUpdatedEvent;
  readonly 'beneficiaries.beneficiary-bank-account-created': BeneficiaryBankAccountCreatedEvent;
  readonly 'beneficiaries.beneficiary-bank-account-updated': BeneficiaryBankAccountUpdatedEvent;
  readonly 'webhook-subscriptions.ping': PingEvent;
}

export const WEBHOOK_NAMES: readonly (keyof WebhookEvents)[] = [
  'incoming-transfers.incoming-transfer-pending',
  'incoming-transfers.incoming-transfer-compliance-in-review',
  'incoming-transfers.incoming-transfer-completed',
  'incoming-transfers.incoming-transfer-failed',
  'incoming-transfers.incoming-transfer-on-hold',
  'outgoing-transfers.outgoing-transfer-created',
  'outgoing-transfers.outgoing-transfer-compliance-in-review',
  'outgoing-transfers.outgoing-transfer-processing',
  'outgoing-transfers.outgoing-transfer-released',
  'outgoing-transfers.outgoing-transfer-completed',
  'outgoing-transfers.outgoing-transfer-cancelled',
  'outgoing-transfers.outgoing-transfer-failed',
  'outgoing-transfers.outgoing-transfer-returned',
  'outgoing-transfers.outgoing-transfer-recall-refused',
  'accounts.account-activated',
  'accounts.account-inactivated',
  'accounts.account-suspended',
  'accounts.account-closed',
  'accounts.account-declined',
  'accounts.account-information-updated',
  'accounts.connection-creation-instructed',
  'accounts.connection-created',
  'accounts.connection-creation-failed',
  'accounts.connection-update-instructed',
  'accounts.connection-updated',
  'accounts.connection-update-failed',
  'clients.created',
  'clients.connection-created',
  'clients.status-changed',
  'open-banking-consents.consent-requested',
  'open-banking-consents.consent-approved',
  'open-banking-consents.consent-authorised',
  'open-banking-consents.consent-rejected',
  'open-banking-consents.consent-revoked',
  'open-banking-consents.consent-expired',
  'open-banking-consents.consent-consumed',
  'users.user-created',
  'users.user-updated',
  'beneficiaries.beneficiary-created',
  'beneficiaries.beneficiary-updated',
  'beneficiaries.beneficiary-bank-account-created',
  'beneficiaries.beneficiary-bank-account-updated',
  'webhook-subscriptions.ping',
];

export interface Account {
  readonly id: string;
  readonly clientId: string;
  readonly mainAccountId: string | null;
  readonly status: AccountStatus;
  readonly country: Country;
  readonly currency: Currency;
  readonly alias: Text;
  readonly routingCodes: RoutingCodes | null;
  readonly iban: Text | null;
  readonly accountNumber: Text | null;
  readonly ledgerNumber: string;
  readonly availableBalance: number;
  readonly receivableBalance: number;
  readonly serviceProvider: Text | null;
  readonly accountHolderName: Text;
  readonly accountHolderIdentityType: 'individual' | 'corporate';
  readonly connection: Connection | null;
}

export interface AccountActivatedEvent {
  readonly webhook: AccountActivatedEventWebhook;
  readonly data: AccountActivatedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountActivatedEventData {
  readonly account: ActiveAccount;
}

export interface AccountActivatedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-activated';
}

export interface AccountClosedEvent {
  readonly webhook: AccountClosedEventWebhook;
  readonly data: AccountClosedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountClosedEventData {
  readonly account: ClosedAccount;
}

export interface AccountClosedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-closed';
}

export interface AccountConnectionCreatedEvent {
  readonly webhook: AccountConnectionCreatedEventWebhook;
  readonly data: AccountConnectionCreatedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionCreatedEventData {
  readonly account: AccountConnectionUpToDate;
}

export interface AccountConnectionCreatedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-created';
}

export interface AccountConnectionCreationFailedEvent {
  readonly webhook: AccountConnectionCreationFailedEventWebhook;
  readonly data: AccountConnectionCreationFailedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionCreationFailedEventData {
  readonly account: AccountConnectionNotCreated;
}

export interface AccountConnectionCreationFailedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-creation-failed';
}

export interface AccountConnectionCreationInstructedEvent {
  readonly webhook: AccountConnectionCreationInstructedEventWebhook;
  readonly data: AccountConnectionCreationInstructedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionCreationInstructedEventData {
  readonly account: AccountConnectionInCreation;
}

export interface AccountConnectionCreationInstructedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-creation-instructed';
}

export type AccountConnectionInCreation = Account & {
  readonly connection: ConnectionInCreation;
};

export type AccountConnectionInUpdate = Account & {
  readonly connection: ConnectionInUpdate;
};

export type AccountConnectionNotCreated = Account & {
  readonly connection: ConnectionNotCreated;
};

export type AccountConnectionOutdated = Account & {
  readonly connection: ConnectionOutdated;
};

export type AccountConnectionUpToDate = Account & {
  readonly connection: ConnectionUpToDate;
};

export interface AccountConnectionUpdateFailedEvent {
  readonly webhook: AccountConnectionUpdateFailedEventWebhook;
  readonly data: AccountConnectionUpdateFailedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionUpdateFailedEventData {
  readonly account: AccountConnectionOutdated;
}

export interface AccountConnectionUpdateFailedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-update-failed';
}

export interface AccountConnectionUpdateInstructedEvent {
  readonly webhook: AccountConnectionUpdateInstructedEventWebhook;
  readonly data: AccountConnectionUpdateInstructedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionUpdateInstructedEventData {
  readonly account: AccountConnectionInUpdate;
}

export interface AccountConnectionUpdateInstructedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-update-instructed';
}

export interface AccountConnectionUpdatedEvent {
  readonly webhook: AccountConnectionUpdatedEventWebhook;
  readonly data: AccountConnectionUpdatedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountConnectionUpdatedEventData {
  readonly account: AccountConnectionUpToDate;
}

export interface AccountConnectionUpdatedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'connection-updated';
}

export interface AccountDeclinedEvent {
  readonly webhook: AccountDeclinedEventWebhook;
  readonly data: AccountDeclinedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountDeclinedEventData {
  readonly account: DeclinedAccount;
}

export interface AccountDeclinedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-declined';
}

export interface AccountEventConnect {
  /** @deprecated */
  readonly connection?: Connection;
}

export interface AccountInactivatedEvent {
  readonly webhook: AccountInactivatedEventWebhook;
  readonly data: AccountInactivatedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountInactivatedEventData {
  readonly account: InactiveAccount;
}

export interface AccountInactivatedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-inactivated';
}

export interface AccountInformationUpdatedEvent {
  readonly webhook: AccountInformationUpdatedEventWebhook;
  readonly data: AccountInformationUpdatedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountInformationUpdatedEventData {
  readonly account: Account;
}

export interface AccountInformationUpdatedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-information-updated';
}

export type AccountStatus = 'pending' | 'active' | 'inactive' | 'suspended' | 'closed' | 'declined';

export interface AccountSuspendedEvent {
  readonly webhook: AccountSuspendedEventWebhook;
  readonly data: AccountSuspendedEventData;
  readonly connect: AccountEventConnect;
  readonly metadata: EventMetadata;
}

export interface AccountSuspendedEventData {
  readonly account: SuspendedAccount;
}

export interface AccountSuspendedEventWebhook {
  readonly module: 'accounts';
  readonly type: 'account-suspended';
}

export type ActiveAccount = Account & {
  readonly status: 'active';
};

export interface Address {
  readonly country: Country;
  readonly region: Text | null;
  readonly city: Text | null;
  readonly street: Text | null;
  readonly houseNumber: Text | null;
  readonly postalCode: Text | null;
  readonly refinement: Text | null;
}

export type ApprovedConsent = Consent & {
  readonly status: 'awaiting-exchange';
  readonly userId: string;
  readonly accounts: readonly (string)[];
  readonly grantedDateTime: null;
  readonly expiryDateTime: null;
};

export type AuthorisedConsent = Consent & {
  readonly status: 'authorised';
  readonly userId: string;
  readonly accounts: readonly (string)[];
  readonly grantedDateTime: DateTime;
  readonly expiryDateTime: DateTime;
};

export interface Beneficiary {
  readonly id: string;
  readonly clientId: string;
  readonly identity: BeneficiaryIdentity | null;
  readonly fullName: Text;
  readonly title: Text | null;
  readonly contact: BeneficiaryContact | null;
  readonly address: Address | null;
  readonly bankAccounts?: readonly (BeneficiaryBankAccount)[];
}

export interface BeneficiaryBankAccount {
  readonly id: string;
  readonly beneficiaryId: string;
  readonly accountHolderName: Text;
  readonly accountHolderType: 'individual' | 'corporate' | null;
  readonly bankName: Text | null;
  readonly alias: Text | null;
  readonly country: Country;
  readonly currency: Currency;
  readonly accountNumber: Text | null;
  readonly iban: Text | null;
  readonly routingCodes: RoutingCodes | null;
  readonly status: BeneficiaryBankAccountStatus;
}

export interface BeneficiaryBankAccountCreatedEvent {
  readonly webhook: BeneficiaryBankAccountCreatedEventWebhook;
  readonly data: BeneficiaryBankAccountCreatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface BeneficiaryBankAccountCreatedEventData {
  readonly beneficiary: BeneficiaryWithBankAccount;
}

export interface BeneficiaryBankAccountCreatedEventWebhook {
  readonly module: 'beneficiaries';
  readonly type: 'beneficiary-bank-account-created';
}

export interface BeneficiaryBankAccountDestination {
  readonly type: 'beneficiary-bank-account';
  readonly beneficiaryBankAccountId: string | null;
  readonly beneficiaryId: string | null;
}

export type BeneficiaryBankAccountStatus = 'active' | 'inactive';

export interface BeneficiaryBankAccountUpdatedEvent {
  readonly webhook: BeneficiaryBankAccountUpdatedEventWebhook;
  readonly data: BeneficiaryBankAccountUpdatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface BeneficiaryBankAccountUpdatedEventData {
  readonly beneficiary: BeneficiaryWithBankAccount;
}

export interface BeneficiaryBankAccountUpdatedEventWebhook {
  readonly module: 'beneficiaries';
  readonly type: 'beneficiary-bank-account-updated';
}

export interface BeneficiaryContact {
  readonly phone: Text | null;
  readonly email: Text | null;
  readonly address: Address | null;
}

export interface BeneficiaryCreatedEvent {
  readonly webhook: BeneficiaryCreatedEventWebhook;
  readonly data: BeneficiaryCreatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface BeneficiaryCreatedEventData {
  readonly beneficiary: Beneficiary;
}

export interface BeneficiaryCreatedEventWebhook {
  readonly module: 'beneficiaries';
  readonly type: 'beneficiary-created';
}

export type BeneficiaryIdentity = IndividualBeneficiaryIdentity | CorporateBeneficiaryIdentity;

export interface BeneficiaryUpdatedEvent {
  readonly webhook: BeneficiaryUpdatedEventWebhook;
  readonly data: BeneficiaryUpdatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface BeneficiaryUpdatedEventData {
  readonly beneficiary: Beneficiary;
}

export interface BeneficiaryUpdatedEventWebhook {
  readonly module: 'beneficiaries';
  readonly type: 'beneficiary-updated';
}

export type BeneficiaryWithBankAccount = Beneficiary & {
  readonly bankAccounts: readonly (BeneficiaryBankAccount)[];
};

export type CalendarDate = string;

export type CancelledOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'cancelled';
};

export interface Client {
  readonly id: string;
  readonly clientNumber: string;
  readonly status: ClientStatus;
  readonly fullName: Text;
  readonly identity: ClientIdentity;
  readonly profile?: ClientProfile;
  readonly relations?: readonly (ClientRelation)[];
}

export interface ClientAccountDestination {
  readonly type: 'client-account';
  readonly accountId: string;
}

export interface ClientConnectionCreatedEvent {
  readonly webhook: ClientConnectionCreatedEventWebhook;
  readonly data: ClientConnectionCreatedEventData;
  readonly connect: ClientEventConnect;
  readonly metadata: EventMetadata;
}

export interface ClientConnectionCreatedEventData {
  readonly client: Client;
}

export interface ClientConnectionCreatedEventWebhook {
  readonly module: 'clients';
  readonly type: 'connection-created';
}

export interface ClientCreatedEvent {
  readonly webhook: ClientCreatedEventWebhook;
  readonly data: ClientCreatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ClientCreatedEventData {
  readonly client: Client;
}

export interface ClientCreatedEventWebhook {
  readonly module: 'clients';
  readonly type: 'created';
}

export interface ClientEventConnect {
  readonly connection: ClientEventConnection;
}

export interface ClientEventConnection {
  readonly id: string;
  readonly serviceProvider: Text;
}

export type ClientIdentity = IndividualClientIdentity | CorporateClientIdentity;

export interface ClientProfile {
  readonly identityType: 'individual' | 'corporate';
  readonly primaryAddress?: Address | null;
  readonly residentialAddress?: Address | null;
  readonly registrationAddress?: Address | null;
  readonly phone: Text | null;
  readonly email: Text | null;
}

export interface ClientRelation {
  readonly id: string;
  readonly clientId: string;
  readonly relation: Relation;
  readonly identity: ClientRelationIdentity;
  readonly profile: ClientRelationProfile;
  readonly fullName: Text;
}

export interface ClientRelationAddress {
  readonly country: Country;
  readonly region: Text | null;
  readonly city: Text | null;
  readonly street: Text | null;
  readonly houseNumber: Text | null;
  readonly postalCode: Text | null;
  readonly refinement: Text | null;
  readonly state: Text | null;
  readonly firstLine: Text | null;
  readonly secondLine: Text | null;
}

export interface ClientRelationIdentity {
  readonly type: 'individual';
  readonly givenName: Text;
  readonly familyName: Text;
  readonly birthDate: CalendarDate | null;
  readonly country: Country | null;
}

export interface ClientRelationProfile {
  readonly identityType: 'individual';
  readonly residentialAddress: ClientRelationAddress | null;
  readonly phone: Text | null;
  readonly email: Text | null;
}

export type ClientStatus = 'pending' | 'active' | 'inactive' | 'suspended' | 'closed' | 'declined';

export interface ClientStatusChangedEvent {
  readonly webhook: ClientStatusChangedEventWebhook;
  readonly data: ClientStatusChangedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ClientStatusChangedEventData {
  readonly client: Client;
}

export interface ClientStatusChangedEventWebhook {
  readonly module: 'clients';
  readonly type: 'status-changed';
}

export type ClosedAccount = Account & {
  readonly status: 'closed';
};

export type CompletedIncomingTransfer = IncomingTransfer & {
  readonly status: 'completed';
  readonly transferDate: CalendarDate;
};

export type CompletedOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'completed';
  readonly returned: false;
};

export interface ComplianceCheckInReview {
  readonly status: 'in-review';
  readonly procedureResults: Readonly<Record<string, ProcedureResultInReview>>;
}

export type Connect = Readonly<Record<string, unknown>>;

export type ConnectMethod = 'built-in' | 'plug-in';

export interface Connection {
  readonly id: string;
  readonly method: ConnectMethod;
  readonly serviceProvider: Text;
  readonly reference: Text | null;
  readonly state: ConnectionState;
  readonly status: ConnectionStatus | null;
  readonly error: ConnectionError | null;
}

export interface ConnectionError {
  readonly category: 'functional' | 'technical';
  readonly origin: 'customer' | 'platform' | 'provider';
  readonly code: Text;
  readonly message: Text;
  readonly attributes: Readonly<Record<string, Text>>;
}

export type ConnectionInCreation = Connection & {
  readonly state: 'creation-in-progress';
  readonly error: null;
};

export type ConnectionInUpdate = Connection & {
  readonly state: 'update-in-progress';
  readonly error: null;
};

export type ConnectionNotCreated = Connection & {
  readonly state: 'creation-failed' | 'dependency-failed';
  readonly error: ConnectionError;
};

export type ConnectionOutdated = Connection & {
  readonly state: 'completed-outdated';
  readonly error: ConnectionError;
};

export type ConnectionState = 'creation-in-progress' | 'creation-failed' | 'dependency-failed' | 'completed-up-to-date' | 'update-in-progress' | 'completed-outdated';

export type ConnectionStatus = 'active' | 'inactive' | 'closed';

export type ConnectionUpToDate = Connection & {
  readonly state: 'completed-up-to-date';
  readonly error: null;
};

export interface Consent {
  readonly id: string;
  readonly thirdPartyProvider: ConsentThirdPartyProvider;
  readonly status: ConsentStatus;
  readonly content: ConsentContent;
  readonly userId: string | null;
  readonly accounts: readonly (string)[] | null;
  readonly requestCreatedDateTime: DateTime;
  readonly requestExpiryDateTime: DateTime;
  readonly grantedDateTime: DateTime | null;
  readonly expiryDateTime: DateTime | null;
}

export interface ConsentApprovedEvent {
  readonly webhook: ConsentApprovedEventWebhook;
  readonly data: ConsentApprovedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentApprovedEventData {
  readonly consent: ApprovedConsent;
}

export interface ConsentApprovedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-approved';
}

export interface ConsentAuthorisedEvent {
  readonly webhook: ConsentAuthorisedEventWebhook;
  readonly data: ConsentAuthorisedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentAuthorisedEventData {
  readonly consent: AuthorisedConsent;
}

export interface ConsentAuthorisedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-authorised';
}

export interface ConsentConsumedEvent {
  readonly webhook: ConsentConsumedEventWebhook;
  readonly data: ConsentConsumedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentConsumedEventData {
  readonly consent: ConsumedConsent;
}

export interface ConsentConsumedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-consumed';
}

export interface ConsentContent {
  readonly scope: ConsentScope;
  readonly paymentScope: 'domestic' | 'international' | null;
  readonly paymentType: 'standard' | 'scheduled' | null;
  readonly instructedAmount: number | null;
  readonly instructedCurrency: Currency | null;
  readonly creditorAccount: CreditorAccount | null;
  readonly currencyOfTransfer: Currency | null;
  readonly requestedExecutionDateTime: DateTime | null;
}

export interface ConsentExpiredEvent {
  readonly webhook: ConsentExpiredEventWebhook;
  readonly data: ConsentExpiredEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentExpiredEventData {
  readonly consent: ExpiredConsent;
}

export interface ConsentExpiredEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-expired';
}

export interface ConsentRejectedEvent {
  readonly webhook: ConsentRejectedEventWebhook;
  readonly data: ConsentRejectedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentRejectedEventData {
  readonly consent: RejectedConsent;
}

export interface ConsentRejectedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-rejected';
}

export interface ConsentRequestedEvent {
  readonly webhook: ConsentRequestedEventWebhook;
  readonly data: ConsentRequestedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentRequestedEventData {
  readonly consent: RequestedConsent;
}

export interface ConsentRequestedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-requested';
}

export interface ConsentRevokedEvent {
  readonly webhook: ConsentRevokedEventWebhook;
  readonly data: ConsentRevokedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface ConsentRevokedEventData {
  readonly consent: RevokedConsent;
}

export interface ConsentRevokedEventWebhook {
  readonly module: 'open-banking-consents';
  readonly type: 'consent-revoked';
}

export type ConsentScope = 'accounts' | 'payments';

export type ConsentStatus = 'awaiting-authorisation' | 'awaiting-exchange' | 'authorised' | 'consumed' | 'rejected' | 'revoked' | 'expired';

export interface ConsentThirdPartyProvider {
  readonly name: Text;
  readonly website: Text;
  readonly applicationName: Text;
  readonly applicationDescription: Text;
  readonly applicationWebsite: Text;
}

export type ConsumedConsent = Consent & {
  readonly status: 'consumed';
  readonly userId: string;
  readonly accounts: readonly (string)[];
  readonly grantedDateTime: DateTime;
  readonly expiryDateTime: DateTime;
};

export interface CorporateBeneficiaryIdentity {
  readonly type: 'corporate';
  readonly legalName: Text;
  readonly identifications: readonly (Identification)[];
}

export interface CorporateClientIdentity {
  readonly type: 'corporate';
  readonly legalName: Text;
  readonly incorporationDate: HistoricDate | null;
  readonly corporationType: Text | null;
  readonly country: Country | null;
  readonly identifications: readonly (Identification)[];
  /** @deprecated */
  readonly identificationNumbers: IdentificationNumbers;
}

/** An ISO 3166-1 alpha-2 code */
export type Country = 'AD' | 'AE' | 'AF' | 'AG' | 'AI' | 'AL' | 'AM' | 'AO' | 'AQ' | 'AR' | 'AS' | 'AT' | 'AU' | 'AW' | 'AX' | 'AZ' | 'BA' | 'BB' | 'BD' | 'BE' | 'BF' | 'BG' | 'BH' | 'BI' | 'BJ' | 'BL' | 'BM' | 'BN' | 'BO' | 'BQ' | 'BR' | 'BS' | 'BT' | 'BV' | 'BW' | 'BY' | 'BZ' | 'CA' | 'CC' | 'CD' | 'CF' | 'CG' | 'CH' | 'CI' | 'CK' | 'CL' | 'CM' | 'CN' | 'CO' | 'CR' | 'CU' | 'CV' | 'CW' | 'CX' | 'CY' | 'CZ' | 'DE' | 'DJ' | 'DK' | 'DM' | 'DO' | 'DZ' | 'EC' | 'EE' | 'EG' | 'EH' | 'ER' | 'ES' | 'ET' | 'FI' | 'FJ' | 'FK' | 'FM' | 'FO' | 'FR' | 'GA' | 'GB' | 'GD' | 'GE' | 'GF' | 'GG' | 'GH' | 'GI' | 'GL' | 'GM' | 'GN' | 'GP' | 'GQ' | 'GR' | 'GS' | 'GT' | 'GU' | 'GW' | 'GY' | 'HK' | 'HM' | 'HN' | 'HR' | 'HT' | 'HU' | 'ID' | 'IE' | 'IL' | 'IM' | 'IN' | 'IO' | 'IQ' | 'IR' | 'IS' | 'IT' | 'JE' | 'JM' | 'JO' | 'JP' | 'KE' | 'KG' | 'KH' | 'KI' | 'KM' | 'KN' | 'KP' | 'KR' | 'KW' | 'KY' | 'KZ' | 'LA' | 'LB' | 'LC' | 'LI' | 'LK' | 'LR' | 'LS' | 'LT' | 'LU' | 'LV' | 'LY' | 'MA' | 'MC' | 'MD' | 'ME' | 'MF' | 'MG' | 'MH' | 'MK' | 'ML' | 'MM' | 'MN' | 'MO' | 'MP' | 'MQ' | 'MR' | 'MS' | 'MT' | 'MU' | 'MV' | 'MW' | 'MX' | 'MY' | 'MZ' | 'NA' | 'NC' | 'NE' | 'NF' | 'NG' | 'NI' | 'NL' | 'NO' | 'NP' | 'NR' | 'NU' | 'NZ' | 'OM' | 'PA' | 'PE' | 'PF' | 'PG' | 'PH' | 'PK' | 'PL' | 'PM' | 'PN' | 'PR' | 'PS' | 'PT' | 'PW' | 'PY' | 'QA' | 'RE' | 'RO' | 'RS' | 'RU' | 'RW' | 'SA' | 'SB' | 'SC' | 'SD' | 'SE' | 'SG' | 'SH' | 'SI' | 'SJ' | 'SK' | 'SL' | 'SM' | 'SN' | 'SO' | 'SR' | 'SS' | 'ST' | 'SV' | 'SX' | 'SY' | 'SZ' | 'TC' | 'TD' | 'TF' | 'TG' | 'TH' | 'TJ' | 'TK' | 'TL' | 'TM' | 'TN' | 'TO' | 'TR' | 'TT' | 'TV' | 'TW' | 'TZ' | 'UA' | 'UG' | 'UM' | 'US' | 'UY' | 'UZ' | 'VA' | 'VC' | 'VE' | 'VG' | 'VI' | 'VN' | 'VU' | 'WF' | 'WS' | 'YE' | 'YT' | 'ZA' | 'ZM' | 'ZW';

export interface CreditorAccount {
  readonly schemeName: Text;
  readonly identification: Text;
  readonly name: Text;
}

/** An active ISO 4217 code */
export type Currency = 'AED' | 'AFN' | 'ALL' | 'AMD' | 'AOA' | 'ARS' | 'AUD' | 'AWG' | 'AZN' | 'BAM' | 'BBD' | 'BDT' | 'BHD' | 'BIF' | 'BMD' | 'BND' | 'BOB' | 'BOV' | 'BRL' | 'BSD' | 'BTN' | 'BWP' | 'BYN' | 'BZD' | 'CAD' | 'CDF' | 'CHE' | 'CHF' | 'CHW' | 'CLF' | 'CLP' | 'CNY' | 'COP' | 'COU' | 'CRC' | 'CUP' | 'CVE' | 'CZK' | 'DJF' | 'DKK' | 'DOP' | 'DZD' | 'EGP' | 'ERN' | 'ETB' | 'EUR' | 'FJD' | 'FKP' | 'GBP' | 'GEL' | 'GHS' | 'GIP' | 'GMD' | 'GNF' | 'GTQ' | 'GYD' | 'HKD' | 'HNL' | 'HTG' | 'HUF' | 'IDR' | 'ILS' | 'INR' | 'IQD' | 'IRR' | 'ISK' | 'JMD' | 'JOD' | 'JPY' | 'KES' | 'KGS' | 'KHR' | 'KMF' | 'KPW' | 'KRW' | 'KWD' | 'KYD' | 'KZT' | 'LAK' | 'LBP' | 'LKR' | 'LRD' | 'LSL' | 'LYD' | 'MAD' | 'MDL' | 'MGA' | 'MKD' | 'MMK' | 'MNT' | 'MOP' | 'MRU' | 'MUR' | 'MVR' | 'MWK' | 'MXN' | 'MXV' | 'MYR' | 'MZN' | 'NAD' | 'NGN' | 'NIO' | 'NOK' | 'NPR' | 'NZD' | 'OMR' | 'PAB' | 'PEN' | 'PGK' | 'PHP' | 'PKR' | 'PLN' | 'PYG' | 'QAR' | 'RON' | 'RSD' | 'RUB' | 'RWF' | 'SAR' | 'SBD' | 'SCR' | 'SDG' | 'SEK' | 'SGD' | 'SHP' | 'SLE' | 'SOS' | 'SRD' | 'SSP' | 'STN' | 'SVC' | 'SYP' | 'SZL' | 'THB' | 'TJS' | 'TMT' | 'TND' | 'TOP' | 'TRY' | 'TTD' | 'TWD' | 'TZS' | 'UAH' | 'UGX' | 'USD' | 'USN' | 'UYI' | 'UYU' | 'UYW' | 'UZS' | 'VED' | 'VES' | 'VND' | 'VUV' | 'WST' | 'XAD' | 'XAF' | 'XCD' | 'XCG' | 'XOF' | 'XPF' | 'YER' | 'ZAR' | 'ZMW' | 'ZWG';

export type DateTime = string;

export type DeclinedAccount = Account & {
  readonly status: 'declined';
  readonly connection: null;
};

export interface EventMetadata {
  readonly sequence: number;
  readonly eventId: string;
  readonly eventDateTime: DateTime;
}

export type ExpiredConsent = Consent & {
  readonly status: 'expired';
};

export type FailedIncomingTransfer = IncomingTransfer & {
  readonly status: 'failed';
};

export type FailedOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'failed';
};

export type HeldIncomingTransfer = IncomingTransfer & {
  readonly status: 'on-hold';
};

export type HistoricDate = string;

export interface Identification {
  readonly type: IdentificationType;
  readonly identificationNumber: Text;
  readonly issuingCountry: Country | null;
  readonly issueDate: HistoricDate | null;
  readonly expirationDate: CalendarDate | null;
}

export interface IdentificationNumbers {
  readonly 'registration-number'?: Text;
  readonly passport?: Text;
  readonly 'identity-card'?: Text;
  readonly 'driving-licence'?: Text;
  readonly 'national-id-number'?: Text;
  readonly 'tax-identification-number'?: Text;
  readonly 'vat-number'?: Text;
  readonly lei?: Text;
  readonly 'residence-permit'?: Text;
  readonly other?: Text;
}

export type IdentificationType = 'registration-number' | 'passport' | 'identity-card' | 'driving-licence' | 'national-id-number' | 'tax-identification-number' | 'vat-number' | 'lei' | 'residence-permit' | 'other';

export type InactiveAccount = Account & {
  readonly status: 'inactive';
};

export interface IncomingTransfer {
  readonly id: string;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly transactionNumber: Text;
  readonly paymentReference: string;
  readonly status: IncomingTransferStatus;
  readonly statusReason: StatusReason | null;
  readonly currency: Currency;
  readonly amount: number;
  readonly feeAmount: number;
  readonly feeCurrency: Currency;
  readonly totalAmount: number;
  readonly scope: 'internal' | 'external';
  readonly scheme: Text | null;
  readonly outgoingTransferId: string | null;
  readonly returnedOutgoingTransferId: string | null;
  readonly provisionedAccountCreditId: string | null;
  readonly serviceProvider: Text;
  readonly serviceProviderId: Text | null;
  readonly serviceProviderReference: Text | null;
  readonly senderInformation: Text | null;
  readonly senderName: Text | null;
  readonly transferDate: CalendarDate | null;
  readonly senderAccount: PartyAccount | null;
  readonly receiverAccount: PartyAccount | null;
}

export interface IncomingTransferCompletedEvent {
  readonly webhook: IncomingTransferCompletedEventWebhook;
  readonly data: IncomingTransferCompletedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface IncomingTransferCompletedEventData {
  readonly incomingTransfer: CompletedIncomingTransfer;
  readonly complianceCheck?: never;
}

export interface IncomingTransferCompletedEventWebhook {
  readonly module: 'incoming-transfers';
  readonly type: 'incoming-transfer-completed';
}

export interface IncomingTransferComplianceInReviewEvent {
  readonly webhook: IncomingTransferComplianceInReviewEventWebhook;
  readonly data: IncomingTransferComplianceInReviewEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface IncomingTransferComplianceInReviewEventData {
  readonly incomingTransfer: PendingIncomingTransfer;
  readonly complianceCheck?: ComplianceCheckInReview;
}

export interface IncomingTransferComplianceInReviewEventWebhook {
  readonly module: 'incoming-transfers';
  readonly type: 'incoming-transfer-compliance-in-review';
}

export interface IncomingTransferFailedEvent {
  readonly webhook: IncomingTransferFailedEventWebhook;
  readonly data: IncomingTransferFailedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface IncomingTransferFailedEventData {
  readonly incomingTransfer: FailedIncomingTransfer;
  readonly complianceCheck?: never;
}

export interface IncomingTransferFailedEventWebhook {
  readonly module: 'incoming-transfers';
  readonly type: 'incoming-transfer-failed';
}

export interface IncomingTransferOnHoldEvent {
  readonly webhook: IncomingTransferOnHoldEventWebhook;
  readonly data: IncomingTransferOnHoldEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface IncomingTransferOnHoldEventData {
  readonly incomingTransfer: HeldIncomingTransfer;
  readonly complianceCheck?: never;
}

export interface IncomingTransferOnHoldEventWebhook {
  readonly module: 'incoming-transfers';
  readonly type: 'incoming-transfer-on-hold';
}

export interface IncomingTransferPendingEvent {
  readonly webhook: IncomingTransferPendingEventWebhook;
  readonly data: IncomingTransferPendingEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface IncomingTransferPendingEventData {
  readonly incomingTransfer: PendingIncomingTransfer;
  readonly complianceCheck?: never;
}

export interface IncomingTransferPendingEventWebhook {
  readonly module: 'incoming-transfers';
  readonly type: 'incoming-transfer-pending';
}

export type IncomingTransferStatus = 'pending' | 'on-hold' | 'completed' | 'failed';

export interface IndividualBeneficiaryIdentity {
  readonly type: 'individual';
  readonly givenName: Text;
  readonly familyName: Text;
  readonly birthDate: CalendarDate | null;
  readonly country: Country | null;
  readonly identifications: readonly (Identification)[];
}

export interface IndividualClientIdentity {
  readonly type: 'individual';
  readonly givenName: Text;
  readonly familyName: Text;
  readonly birthDate: CalendarDate | null;
  readonly country: Country | null;
  readonly identifications: readonly (Identification)[];
  /** @deprecated */
  readonly identificationNumbers: IdentificationNumbers;
}

export interface OutgoingTransfer {
  readonly id?: string;
  readonly transactionNumber?: Text;
  readonly paymentReference?: string;
  readonly status?: OutgoingTransferStatus;
  readonly statusReason?: StatusReason | null;
  readonly clientId: string;
  readonly transferDate: CalendarDate;
  readonly originalTransferDate: CalendarDate;
  readonly rollCount: number;
  readonly cutOffDateTime: DateTime | null;
  readonly currency: Currency;
  readonly amount: number;
  readonly feeCurrency: Currency;
  readonly feeAmount: number;
  readonly totalAmount: number;
  readonly description: Text | null;
  readonly transferReasonId: string | null;
  readonly transferCustomReason: Text | null;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly ownerType: 'client';
  readonly source: TransferSource;
  readonly destination: TransferDestination;
  readonly returned?: boolean;
  readonly incomingTransferId?: string | null;
  readonly serviceProviderId?: Text | null;
  readonly serviceProviderReference?: Text | null;
  readonly requirementConfiguration: RequirementConfiguration;
  readonly beneficiary: OutgoingTransferBeneficiary | null;
}

export interface OutgoingTransferBeneficiary {
  readonly fullName: Text;
  readonly identity: Readonly<Record<string, unknown>> | null;
  readonly address: Readonly<Record<string, unknown>> | null;
  readonly account: PartyAccount | null;
  readonly title: Text | null;
}

export interface OutgoingTransferCancelledEvent {
  readonly webhook: OutgoingTransferCancelledEventWebhook;
  readonly data: OutgoingTransferCancelledEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferCancelledEventData {
  readonly outgoingTransfer: CancelledOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferCancelledEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-cancelled';
}

export interface OutgoingTransferCompletedEvent {
  readonly webhook: OutgoingTransferCompletedEventWebhook;
  readonly data: OutgoingTransferCompletedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferCompletedEventData {
  readonly outgoingTransfer: CompletedOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferCompletedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-completed';
}

export interface OutgoingTransferComplianceInReviewEvent {
  readonly webhook: OutgoingTransferComplianceInReviewEventWebhook;
  readonly data: OutgoingTransferComplianceInReviewEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferComplianceInReviewEventData {
  readonly outgoingTransfer: PendingOutgoingTransfer;
  readonly complianceCheck?: ComplianceCheckInReview;
}

export interface OutgoingTransferComplianceInReviewEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-compliance-in-review';
}

export interface OutgoingTransferCreatedEvent {
  readonly webhook: OutgoingTransferCreatedEventWebhook;
  readonly data: OutgoingTransferCreatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferCreatedEventData {
  readonly outgoingTransfer: PendingOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferCreatedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-created';
}

export interface OutgoingTransferFailedEvent {
  readonly webhook: OutgoingTransferFailedEventWebhook;
  readonly data: OutgoingTransferFailedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferFailedEventData {
  readonly outgoingTransfer: FailedOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferFailedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-failed';
}

export interface OutgoingTransferProcessingEvent {
  readonly webhook: OutgoingTransferProcessingEventWebhook;
  readonly data: OutgoingTransferProcessingEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferProcessingEventData {
  readonly outgoingTransfer: ProcessingOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferProcessingEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-processing';
}

export interface OutgoingTransferRecallRefusedEvent {
  readonly webhook: OutgoingTransferRecallRefusedEventWebhook;
  readonly data: OutgoingTransferRecallRefusedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferRecallRefusedEventData {
  readonly outgoingTransfer: RecallRefusedOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferRecallRefusedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-recall-refused';
}

export interface OutgoingTransferReleasedEvent {
  readonly webhook: OutgoingTransferReleasedEventWebhook;
  readonly data: OutgoingTransferReleasedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferReleasedEventData {
  readonly outgoingTransfer: ReleasedOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferReleasedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-released';
}

export interface OutgoingTransferReturnedEvent {
  readonly webhook: OutgoingTransferReturnedEventWebhook;
  readonly data: OutgoingTransferReturnedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface OutgoingTransferReturnedEventData {
  readonly outgoingTransfer: ReturnedOutgoingTransfer;
  readonly complianceCheck?: never;
}

export interface OutgoingTransferReturnedEventWebhook {
  readonly module: 'outgoing-transfers';
  readonly type: 'outgoing-transfer-returned';
}

export type OutgoingTransferStatus = 'pending' | 'processing' | 'released' | 'completed' | 'cancelled' | 'failed';

export interface PartyAccount {
  readonly accountHolderName: Text | null;
  readonly alias: Text | null;
  readonly ledgerNumber: Text | null;
  readonly accountNumber: Text | null;
  readonly iban: Text | null;
  readonly country: Country | null;
  readonly currency: Currency | null;
  readonly routingCodes: RoutingCodes | null;
}

export type PendingIncomingTransfer = IncomingTransfer & {
  readonly status: 'pending';
  readonly transferDate: null;
};

export type PendingOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'pending';
};

export interface PingEvent {
  readonly webhook: PingEventWebhook;
  readonly data: PingEventData;
  readonly connect: Connect;
  readonly metadata: PingMetadata;
}

export interface PingEventData {
  readonly webhookSubscription: WebhookSubscription;
}

export interface PingEventWebhook {
  readonly module: 'webhook-subscriptions';
  readonly type: 'ping';
}

export interface PingMetadata {
  readonly sequence: 0;
  readonly eventId: string;
  readonly eventDateTime: DateTime;
}

export interface ProcedureResultInReview {
  readonly result: Text | null;
}

export type ProcessingOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'processing';
};

export type RecallRefusedOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'released' | 'completed';
  readonly statusReason: RecallRefusedReason;
};

export type RecallRefusedReason = StatusReason & {
  readonly code: 'recall.refused';
};

export type RejectedConsent = Consent & {
  readonly status: 'rejected';
  readonly userId: null;
  readonly accounts: null;
  readonly grantedDateTime: null;
  readonly expiryDateTime: null;
};

export type Relation = 'director' | 'shareholder' | 'director-and-shareholder' | 'authorized-person';

export type ReleasedOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'released';
};

export type RequestedConsent = Consent & {
  readonly status: 'awaiting-authorisation';
  readonly userId: null;
  readonly accounts: null;
  readonly grantedDateTime: null;
  readonly expiryDateTime: null;
};

export interface RequirementConfiguration {
  readonly transferDateStatus: 'not-checked' | 'fulfilled' | 'not-fulfilled';
  readonly complianceCheckStatus: 'not-checked' | 'fulfilled' | 'not-fulfilled' | 'not-required';
  readonly balanceCheckStatus: 'not-checked' | 'fulfilled' | 'not-fulfilled';
  readonly authorizationStatus: 'not-checked' | 'fulfilled' | 'not-fulfilled' | 'not-required';
}

export type ReturnedOutgoingTransfer = OutgoingTransfer & {
  readonly id: string;
  readonly transactionNumber: Text;
  readonly status: 'completed';
  readonly returned: true;
  readonly incomingTransferId: string;
};

export type RevokedConsent = Consent & {
  readonly status: 'revoked';
  readonly userId: string;
  readonly accounts: readonly (string)[];
};

export type RoutingCodes = Readonly<Record<string, Text>>;

export interface StatusReason {
  readonly code: Text;
  readonly message: Text;
}

export type SuspendedAccount = Account & {
  readonly status: 'suspended';
};

/** Text without control characters */
export type Text = string;

export type TransferDestination = ClientAccountDestination | BeneficiaryBankAccountDestination;

export interface TransferSource {
  readonly type: 'client-account';
  readonly accountId: string;
}

export interface User {
  readonly id: string;
  readonly email: Text;
  readonly identity: UserIdentity;
  readonly profile: UserProfile;
  readonly category: 'external';
  readonly type: 'human';
  readonly status: UserStatus;
}

export interface UserCreatedEvent {
  readonly webhook: UserCreatedEventWebhook;
  readonly data: UserCreatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface UserCreatedEventData {
  readonly user: User;
}

export interface UserCreatedEventWebhook {
  readonly module: 'users';
  readonly type: 'user-created';
}

export interface UserIdentity {
  readonly type: 'individual';
  readonly givenName: Text;
  readonly familyName: Text;
  readonly birthDate: CalendarDate | null;
}

export interface UserProfile {
  readonly phone: Text | null;
  readonly residentialAddress: Address | null;
}

export type UserStatus = 'active' | 'inactive';

export interface UserUpdatedEvent {
  readonly webhook: UserUpdatedEventWebhook;
  readonly data: UserUpdatedEventData;
  readonly connect: Connect;
  readonly metadata: EventMetadata;
}

export interface UserUpdatedEventData {
  readonly user: User;
}

export interface UserUpdatedEventWebhook {
  readonly module: 'users';
  readonly type: 'user-updated';
}

export type WebhookModule = 'incoming-transfers' | 'outgoing-transfers' | 'accounts' | 'clients' | 'open-banking-consents' | 'users' | 'beneficiaries';

export interface WebhookSubscription {
  readonly id: string;
  readonly url: Text;
  readonly modules: readonly (WebhookModule)[] | null;
  readonly types: readonly (WebhookType)[] | null;
  readonly status: WebhookSubscriptionStatus;
  readonly statusReason: 'gone' | 'failing' | null;
  readonly description: Text | null;
  readonly createdDateTime: DateTime;
}

export type WebhookSubscriptionStatus = 'active' | 'paused' | 'disabled';

export type WebhookType = 'incoming-transfer-pending' | 'incoming-transfer-compliance-in-review' | 'incoming-transfer-completed' | 'incoming-transfer-failed' | 'outgoing-transfer-created' | 'outgoing-transfer-compliance-in-review' | 'outgoing-transfer-processing' | 'outgoing-transfer-released' | 'outgoing-transfer-completed' | 'outgoing-transfer-cancelled' | 'outgoing-transfer-failed' | 'outgoing-transfer-returned' | 'account-activated' | 'account-inactivated' | 'account-suspended' | 'account-closed' | 'account-declined' | 'account-information-updated' | 'connection-creation-instructed' | 'connection-created' | 'connection-creation-failed' | 'connection-update-instructed' | 'connection-updated' | 'connection-update-failed' | 'created' | 'incoming-transfer-on-hold' | 'outgoing-transfer-recall-refused' | 'status-changed' | 'consent-requested' | 'consent-approved' | 'consent-authorised' | 'consent-rejected' | 'consent-revoked' | 'consent-expired' | 'consent-consumed' | 'user-created' | 'user-updated' | 'beneficiary-created' | 'beneficiary-updated' | 'beneficiary-bank-account-created' | 'beneficiary-bank-account-updated';
