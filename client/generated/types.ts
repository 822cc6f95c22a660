// Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/client/client-source.test.ts

export type CreateClientDirectWorkflow = {
    code: "direct";
    createUser?: boolean | null;
};
export type Text = string;
export type CalendarDate = string;
export type Country = "AD" | "AE" | "AF" | "AG" | "AI" | "AL" | "AM" | "AO" | "AQ" | "AR" | "AS" | "AT" | "AU" | "AW" | "AX" | "AZ" | "BA" | "BB" | "BD" | "BE" | "BF" | "BG" | "BH" | "BI" | "BJ" | "BL" | "BM" | "BN" | "BO" | "BQ" | "BR" | "BS" | "BT" | "BV" | "BW" | "BY" | "BZ" | "CA" | "CC" | "CD" | "CF" | "CG" | "CH" | "CI" | "CK" | "CL" | "CM" | "CN" | "CO" | "CR" | "CU" | "CV" | "CW" | "CX" | "CY" | "CZ" | "DE" | "DJ" | "DK" | "DM" | "DO" | "DZ" | "EC" | "EE" | "EG" | "EH" | "ER" | "ES" | "ET" | "FI" | "FJ" | "FK" | "FM" | "FO" | "FR" | "GA" | "GB" | "GD" | "GE" | "GF" | "GG" | "GH" | "GI" | "GL" | "GM" | "GN" | "GP" | "GQ" | "GR" | "GS" | "GT" | "GU" | "GW" | "GY" | "HK" | "HM" | "HN" | "HR" | "HT" | "HU" | "ID" | "IE" | "IL" | "IM" | "IN" | "IO" | "IQ" | "IR" | "IS" | "IT" | "JE" | "JM" | "JO" | "JP" | "KE" | "KG" | "KH" | "KI" | "KM" | "KN" | "KP" | "KR" | "KW" | "KY" | "KZ" | "LA" | "LB" | "LC" | "LI" | "LK" | "LR" | "LS" | "LT" | "LU" | "LV" | "LY" | "MA" | "MC" | "MD" | "ME" | "MF" | "MG" | "MH" | "MK" | "ML" | "MM" | "MN" | "MO" | "MP" | "MQ" | "MR" | "MS" | "MT" | "MU" | "MV" | "MW" | "MX" | "MY" | "MZ" | "NA" | "NC" | "NE" | "NF" | "NG" | "NI" | "NL" | "NO" | "NP" | "NR" | "NU" | "NZ" | "OM" | "PA" | "PE" | "PF" | "PG" | "PH" | "PK" | "PL" | "PM" | "PN" | "PR" | "PS" | "PT" | "PW" | "PY" | "QA" | "RE" | "RO" | "RS" | "RU" | "RW" | "SA" | "SB" | "SC" | "SD" | "SE" | "SG" | "SH" | "SI" | "SJ" | "SK" | "SL" | "SM" | "SN" | "SO" | "SR" | "SS" | "ST" | "SV" | "SX" | "SY" | "SZ" | "TC" | "TD" | "TF" | "TG" | "TH" | "TJ" | "TK" | "TL" | "TM" | "TN" | "TO" | "TR" | "TT" | "TV" | "TW" | "TZ" | "UA" | "UG" | "UM" | "US" | "UY" | "UZ" | "VA" | "VC" | "VE" | "VG" | "VI" | "VN" | "VU" | "WF" | "WS" | "XK" | "YE" | "YT" | "ZA" | "ZM" | "ZW";
export type IdentificationType = "registration-number" | "passport" | "identity-card" | "driving-licence" | "national-id-number" | "tax-identification-number" | "vat-number" | "lei" | "residence-permit" | "other";
export type HistoricDate = string;
export type IdentificationInput = {
    "type": IdentificationType;
    identificationNumber: Text;
    issuingCountry?: Country | null;
    issueDate?: HistoricDate | null;
    expirationDate?: CalendarDate | null;
};
export type IdentificationNumbersInput = {
    "registration-number"?: Text | null;
    passport?: Text | null;
    "identity-card"?: Text | null;
    "driving-licence"?: Text | null;
    "national-id-number"?: Text | null;
    "tax-identification-number"?: Text | null;
    "vat-number"?: Text | null;
    lei?: Text | null;
    "residence-permit"?: Text | null;
    other?: Text | null;
};
export type IndividualClientIdentityInput = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
    identifications?: IdentificationInput[] | null;
    identificationNumbers?: IdentificationNumbersInput | null;
};
export type CorporateClientIdentityInput = {
    "type": "corporate";
    legalName: Text;
    incorporationDate?: HistoricDate | null;
    corporationType?: Text | null;
    country?: Country | null;
    identifications?: IdentificationInput[] | null;
    identificationNumbers?: IdentificationNumbersInput | null;
};
export type ClientIdentityInput = ({
    "type": "individual";
} & IndividualClientIdentityInput) | ({
    "type": "corporate";
} & CorporateClientIdentityInput);
export type AddressInput = {
    country: Country;
    region?: Text | null;
    city?: Text | null;
    street?: Text | null;
    houseNumber?: Text | null;
    postalCode?: Text | null;
    refinement?: Text | null;
};
export type Phone = string;
export type Email = string;
export type IndividualClientProfileInput = {
    identityType: "individual";
    residentialAddress: AddressInput;
    phone?: Phone | null;
    email?: Email | null;
};
export type CorporateClientProfileInput = {
    identityType: "corporate";
    registrationAddress: AddressInput;
    phone?: Phone | null;
    email?: Email | null;
};
export type ClientProfileInput = ({
    identityType: "individual";
} & IndividualClientProfileInput) | ({
    identityType: "corporate";
} & CorporateClientProfileInput);
export type Relation = "director" | "shareholder" | "director-and-shareholder" | "authorized-person";
export type ClientRelationIdentityInput = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
};
export type ClientRelationProfileInput = {
    identityType: "individual";
    residentialAddress?: AddressInput | null;
    phone?: Phone | null;
    email?: Email | null;
};
export type ClientRelationInput = {
    relation: Relation;
    identity: ClientRelationIdentityInput;
    profile?: ClientRelationProfileInput | null;
};
export type ClientInput = {
    identity: ClientIdentityInput;
    profile: ClientProfileInput;
    relations?: ClientRelationInput[] | null;
};
export type CreateClientDirectRequestData = {
    client: ClientInput;
};
export type ConnectInput = {
    [key: string]: unknown;
} | {
    [key: string]: unknown;
};
export type MetadataInput = {
    [key: string]: unknown;
} | {
    [key: string]: unknown;
};
export type CreateClientDirectRequest = {
    workflow: CreateClientDirectWorkflow;
    data: CreateClientDirectRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type MigrationWorkflow = {
    code: "migration";
};
export type CreateClientMigrationRequestData = {
    sourceId: Text;
};
export type CreateClientMigrationRequestConnect = {
    "type": "explicit";
    serviceProvider: Text;
};
export type CreateClientMigrationRequest = {
    workflow: MigrationWorkflow;
    data: CreateClientMigrationRequestData;
    connect: CreateClientMigrationRequestConnect;
    metadata?: MetadataInput;
};
export type CreateClientRequest = CreateClientDirectRequest | CreateClientMigrationRequest;
export type Workflow = {
    [key: string]: unknown;
};
export type ClientStatus = "pending" | "active" | "inactive" | "suspended" | "closed" | "declined";
export type Identification = {
    "type": IdentificationType;
    identificationNumber: Text;
    issuingCountry: Country | null;
    issueDate: HistoricDate | null;
    expirationDate: CalendarDate | null;
};
export type IdentificationNumbers = {
    "registration-number"?: Text;
    passport?: Text;
    "identity-card"?: Text;
    "driving-licence"?: Text;
    "national-id-number"?: Text;
    "tax-identification-number"?: Text;
    "vat-number"?: Text;
    lei?: Text;
    "residence-permit"?: Text;
    other?: Text;
};
export type IndividualClientIdentity = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate: CalendarDate | null;
    country: Country | null;
    identifications: Identification[];
    identificationNumbers: IdentificationNumbers;
};
export type CorporateClientIdentity = {
    "type": "corporate";
    legalName: Text;
    incorporationDate: HistoricDate | null;
    corporationType: Text | null;
    country: Country | null;
    identifications: Identification[];
    identificationNumbers: IdentificationNumbers;
};
export type ClientIdentity = ({
    "type": "individual";
} & IndividualClientIdentity) | ({
    "type": "corporate";
} & CorporateClientIdentity);
export type Address = {
    country: Country;
    region: Text | null;
    city: Text | null;
    street: Text | null;
    houseNumber: Text | null;
    postalCode: Text | null;
    refinement: Text | null;
};
export type ClientProfile = {
    identityType: "individual" | "corporate";
    primaryAddress?: Address | null;
    residentialAddress?: Address | null;
    registrationAddress?: Address | null;
    phone: Text | null;
    email: Text | null;
};
export type ClientRelationIdentity = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate: CalendarDate | null;
    country: Country | null;
};
export type ClientRelationAddress = {
    country: Country;
    region: Text | null;
    city: Text | null;
    street: Text | null;
    houseNumber: Text | null;
    postalCode: Text | null;
    refinement: Text | null;
    state: Text | null;
    firstLine: Text | null;
    secondLine: Text | null;
};
export type ClientRelationProfile = {
    identityType: "individual";
    residentialAddress: ClientRelationAddress | null;
    phone: Text | null;
    email: Text | null;
};
export type ClientRelation = {
    id: string;
    clientId: string;
    relation: Relation;
    identity: ClientRelationIdentity;
    profile: ClientRelationProfile;
    fullName: Text;
};
export type Client = {
    id: string;
    clientNumber: string;
    status: ClientStatus;
    fullName: Text;
    identity: ClientIdentity;
    profile?: ClientProfile;
    relations?: ClientRelation[];
};
export type UserIdentity = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate: CalendarDate | null;
};
export type UserProfile = {
    phone: Text | null;
    residentialAddress: Address | null;
};
export type UserStatus = "active" | "inactive";
export type User = {
    id: string;
    email: Text;
    identity: UserIdentity;
    profile: UserProfile;
    category: "external";
    "type": "human";
    status: UserStatus;
};
export type UserClientRelationStatus = "allowed" | "revoked";
export type UserClientRelation = {
    id: string;
    userId: string;
    clientId: string;
    status: UserClientRelationStatus;
};
export type CreateClientResponseData = {
    client: Client;
    user?: User;
    userClientRelation?: UserClientRelation;
};
export type MigratedConnection = {
    id: string;
    serviceProvider: Text;
    reference: Text | null;
    state: "completed-up-to-date";
};
export type CreateClientResponseConnect = {
    connection?: MigratedConnection;
};
export type Metadata = {
    [key: string]: unknown;
};
export type CreateClientResponse = {
    workflow: Workflow;
    data: CreateClientResponseData;
    connect: CreateClientResponseConnect;
    metadata: Metadata;
};
export type ErrorCode = "common.coding.internal.record_not_found" | "common.validation.field_required" | "common.validation.field_invalid" | "common.validation.field_unexpected" | "common.validation.mutually_exclusive" | "common.validation.limit_exceeded" | "common.workflow.unknown_code" | "common.idempotency.key_reused" | "common.idempotency.in_progress" | "common.security.unauthenticated" | "common.security.access_denied" | "common.rate.limited" | "common.state.illegal_transition" | "common.dependency.unavailable" | "common.internal.error" | "account.balance.insufficient" | "account.status.not_active" | "account.currency.mismatch" | "account.close.not_empty" | "account.client.mismatch" | "account.method.mismatch" | "account.sub_account.nested" | "client.status.not_active" | "client.close.not_empty" | "user.authentication.failed" | "user.password.not_set" | "transfer.client.mismatch" | "transfer.recall.unavailable" | "transfer.scheme.unavailable" | "transfer.amount.limit_exceeded" | "transfer.date.invalid" | "transfer.roll.limit_exceeded" | "transfer.attribute.invalid" | "beneficiary.bank_account.not_active" | "beneficiary.bank_account.update_not_allowed" | "compliance.external.not_enabled" | "consent.status.invalid" | "consent.content.mismatch" | "consent.country.not_supported" | "consent.accounts.limit_exceeded" | "user.status.not_active" | "user.client_relation.not_allowed" | "third_party_provider.status.not_active" | "third_party_provider.redirect_uri.not_registered" | "connect.offer.unavailable" | "connect.provider.unavailable" | "connect.resource.not_found" | "connect.resource.invalid" | "connect.client.not_connected" | "connect.client.mismatch" | "connect.method.type_mismatch";
export type Problem = {
    /** UTC, with fractional seconds */
    timestamp: string;
    message: string;
    code: ErrorCode;
    /** The entity, its field, and the invalid value */
    messageParameters: string[];
};
export type Error = {
    /** UTC, with fractional seconds */
    timestamp: string;
    message: string;
    code: ErrorCode;
    /** The entity, its field, and the invalid value */
    messageParameters: string[];
    /** The other problems of the same request */
    errors?: Problem[];
};
export type ClientListResponseData = {
    clients: Client[];
};
export type Connect = {
    [key: string]: unknown;
};
export type Page = {
    size: number;
    "number": number;
    totalElements: number;
    totalPages: number;
};
export type PagedMetadata = {
    page: Page;
};
export type ClientListResponse = {
    workflow: Workflow;
    data: ClientListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ClientResponseData = {
    client: Client;
};
export type ClientResponse = {
    workflow: Workflow;
    data: ClientResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type DirectWorkflow = {
    code: "direct";
};
export type IdentificationChange = {
    "type": IdentificationType;
    identificationNumber: Text;
    issuingCountry?: Country | null;
    issueDate?: HistoricDate | null;
    expirationDate?: CalendarDate | null;
};
export type IdentificationNumbersChange = {
    "registration-number"?: Text | null;
    passport?: Text | null;
    "identity-card"?: Text | null;
    "driving-licence"?: Text | null;
    "national-id-number"?: Text | null;
    "tax-identification-number"?: Text | null;
    "vat-number"?: Text | null;
    lei?: Text | null;
    "residence-permit"?: Text | null;
    other?: Text | null;
};
export type IndividualClientIdentityChange = {
    "type": "individual";
    givenName?: Text;
    familyName?: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
    identifications?: IdentificationChange[] | null;
    identificationNumbers?: IdentificationNumbersChange | null;
};
export type CorporateClientIdentityChange = {
    "type": "corporate";
    legalName?: Text;
    incorporationDate?: HistoricDate | null;
    corporationType?: Text | null;
    country?: Country | null;
    identifications?: IdentificationChange[] | null;
    identificationNumbers?: IdentificationNumbersChange | null;
};
export type ClientIdentityChange = ({
    "type": "individual";
} & IndividualClientIdentityChange) | ({
    "type": "corporate";
} & CorporateClientIdentityChange);
export type AddressChange = {
    country: Country;
    region?: Text | null;
    city?: Text | null;
    street?: Text | null;
    houseNumber?: Text | null;
    postalCode?: Text | null;
    refinement?: Text | null;
};
export type IndividualClientProfileChange = {
    identityType: "individual";
    residentialAddress?: AddressChange;
    phone?: Phone | null;
    email?: Email | null;
};
export type CorporateClientProfileChange = {
    identityType: "corporate";
    registrationAddress?: AddressChange;
    phone?: Phone | null;
    email?: Email | null;
};
export type ClientProfileChange = ({
    identityType: "individual";
} & IndividualClientProfileChange) | ({
    identityType: "corporate";
} & CorporateClientProfileChange);
export type ClientChange = {
    identity?: ClientIdentityChange;
    profile?: ClientProfileChange;
    status?: ClientStatus;
};
export type UpdateClientRequestData = {
    client: ClientChange;
};
export type UpdateClientRequest = {
    workflow: DirectWorkflow;
    data: UpdateClientRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateClientRelationsRequestData = {
    clientRelation?: ClientRelationInput | null;
    clientRelations?: ClientRelationInput[] | null;
};
export type CreateClientRelationsRequest = {
    workflow: DirectWorkflow;
    data: CreateClientRelationsRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateClientRelationsResponseData = {
    clientRelation?: ClientRelation;
    clientRelations?: ClientRelation[];
};
export type CreateClientRelationsResponse = {
    workflow: Workflow;
    data: CreateClientRelationsResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ClientRelationListResponseData = {
    clientRelations: ClientRelation[];
};
export type ClientRelationListResponse = {
    workflow: Workflow;
    data: ClientRelationListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ClientRelationIdentityChange = {
    "type"?: "individual";
    givenName?: Text;
    familyName?: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
};
export type ClientRelationProfileChange = {
    identityType?: "individual";
    residentialAddress?: AddressChange | null;
    phone?: Phone | null;
    email?: Email | null;
};
export type ClientRelationChange = {
    relation?: Relation;
    identity?: ClientRelationIdentityChange;
    profile?: ClientRelationProfileChange | null;
};
export type UpdateClientRelationRequestData = {
    clientRelation: ClientRelationChange;
};
export type UpdateClientRelationRequest = {
    workflow: DirectWorkflow;
    data: UpdateClientRelationRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ClientRelationResponseData = {
    clientRelation: ClientRelation;
};
export type ClientRelationResponse = {
    workflow: Workflow;
    data: ClientRelationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type DeleteClientRelationResponseData = {};
export type DeleteClientRelationResponse = {
    workflow: Workflow;
    data: DeleteClientRelationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type HumanExternalDirectWorkflow = {
    code: "human.external.direct";
};
export type UserIdentityInput = {
    "type"?: "individual" | null;
    givenName: Text;
    familyName: Text;
    birthDate?: CalendarDate | null;
};
export type UserProfileInput = {
    phone?: Phone | null;
    residentialAddress?: AddressInput | null;
};
export type UserInput = {
    email: Email;
    identity: UserIdentityInput;
    profile?: UserProfileInput | null;
};
export type UserClientRelationInput = {
    clientId: string;
};
export type CreateUserHumanExternalDirectRequestData = {
    user: UserInput;
    userClientRelations?: UserClientRelationInput[] | null;
};
export type CreateUserHumanExternalDirectRequest = {
    workflow: HumanExternalDirectWorkflow;
    data: CreateUserHumanExternalDirectRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type HumanExternalInvitationWorkflow = {
    code: "human.external.invitation";
};
export type InvitedUserInput = {
    email: Email;
    identity: UserIdentityInput;
};
export type UserInvitationInput = {
    clientId: string;
    userClientRelation: Relation;
};
export type CreateUserHumanExternalInvitationRequestData = {
    user: InvitedUserInput;
    invitations: UserInvitationInput[];
};
export type CreateUserHumanExternalInvitationRequest = {
    workflow: HumanExternalInvitationWorkflow;
    data: CreateUserHumanExternalInvitationRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateUserRequest = CreateUserHumanExternalDirectRequest | CreateUserHumanExternalInvitationRequest;
export type CreatedUser = {
    id?: string;
    email: Text;
    identity: UserIdentity;
    profile?: UserProfile;
    category: "external";
    "type": "human";
    status?: UserStatus;
};
export type UserInvitationStatus = "pending" | "accepted" | "rejected" | "cancelled";
export type UserInvitation = {
    id: string;
    clientId: string;
    userClientRelation: Relation;
    status: UserInvitationStatus;
};
export type CreateUserResponseData = {
    user: CreatedUser;
    userClientRelations?: UserClientRelation[];
    invitations?: UserInvitation[];
};
export type CreateUserResponse = {
    workflow: Workflow;
    data: CreateUserResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type UserListResponseData = {
    users: User[];
};
export type UserListResponse = {
    workflow: Workflow;
    data: UserListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type UserIdentityChange = {
    "type"?: "individual";
    givenName?: Text;
    familyName?: Text;
    birthDate?: CalendarDate | null;
};
export type UserProfileChange = {
    phone?: Phone | null;
    residentialAddress?: AddressChange | null;
};
export type UserChange = {
    email?: Email;
    identity?: UserIdentityChange;
    profile?: UserProfileChange | null;
    status?: UserStatus;
};
export type UpdateUserRequestData = {
    user: UserChange;
};
export type UpdateUserRequest = {
    workflow: HumanExternalDirectWorkflow;
    data: UpdateUserRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type UserResponseData = {
    user: User;
};
export type UserResponse = {
    workflow: Workflow;
    data: UserResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type UserInvitationListResponseData = {
    userInvitations: UserInvitation[];
};
export type UserInvitationListResponse = {
    workflow: Workflow;
    data: UserInvitationListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type UserInvitationResponseData = {
    userInvitation: UserInvitation;
};
export type UserInvitationResponse = {
    workflow: Workflow;
    data: UserInvitationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type UserInvitationChange = {
    status: UserInvitationStatus;
};
export type UpdateUserInvitationRequestData = {
    userInvitation: UserInvitationChange;
};
export type UpdateUserInvitationRequest = {
    workflow: DirectWorkflow;
    data: UpdateUserInvitationRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateUserClientRelationsRequestData = {
    userClientRelations: UserClientRelationInput[];
};
export type CreateUserClientRelationsRequest = {
    workflow: DirectWorkflow;
    data: CreateUserClientRelationsRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateUserClientRelationsResponseData = {
    userClientRelations: UserClientRelation[];
};
export type CreateUserClientRelationsResponse = {
    workflow: Workflow;
    data: CreateUserClientRelationsResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type UserClientRelationListResponseData = {
    userClientRelations: UserClientRelation[];
};
export type UserClientRelationListResponse = {
    workflow: Workflow;
    data: UserClientRelationListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type UserClientRelationResponseData = {
    userClientRelation: UserClientRelation;
};
export type UserClientRelationResponse = {
    workflow: Workflow;
    data: UserClientRelationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type UserClientRelationChange = {
    status: UserClientRelationStatus;
};
export type UpdateUserClientRelationRequestData = {
    userClientRelation: UserClientRelationChange;
};
export type UpdateUserClientRelationRequest = {
    workflow: DirectWorkflow;
    data: UpdateUserClientRelationRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type PasswordWorkflow = {
    code: "password";
};
export type UserAddressInput = {
    email: Email;
};
export type SignInSourceInput = {
    /** An IPv4 or IPv6 address, such as 203.0.113.7 or 2001:db8::7 */
    ipAddress: string;
    deviceToken?: string | null;
};
export type AuthenticateUserRequestData = {
    user: UserAddressInput;
    source?: SignInSourceInput | null;
};
export type AuthenticateUserRequestDataWrite = {
    user: UserAddressInput;
    password: string;
    source?: SignInSourceInput | null;
};
export type AuthenticateUserRequest = {
    workflow: PasswordWorkflow;
    data: AuthenticateUserRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type AuthenticateUserRequestWrite = {
    workflow: PasswordWorkflow;
    data: AuthenticateUserRequestDataWrite;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type SignInDevice = {
    deviceToken: Text;
};
export type AuthenticateUserResponseData = {
    user: User;
    source?: SignInDevice;
};
export type AuthenticateUserResponse = {
    workflow: Workflow;
    data: AuthenticateUserResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ResetUserPasswordRequestData = {};
export type ResetUserPasswordRequest = {
    workflow: DirectWorkflow;
    data?: ResetUserPasswordRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type DateTime = Date;
export type PasswordReset = {
    id: string;
    userId: string;
    expiryDateTime: DateTime;
};
export type PasswordResetResponseData = {
    passwordReset: PasswordReset;
};
export type PasswordResetResponse = {
    workflow: Workflow;
    data: PasswordResetResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type SubmitSignUpRequest = {
    /** To an invitation */
    answer?: "accept" | "reject";
    /** The new password, where the page asks for one */
    password?: string;
};
export type IndividualBeneficiaryIdentityInput = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
    identifications?: IdentificationInput[] | null;
};
export type CorporateBeneficiaryIdentityInput = {
    "type": "corporate";
    legalName: Text;
    identifications?: IdentificationInput[] | null;
};
export type BeneficiaryIdentityInput = ({
    "type": "individual";
} & IndividualBeneficiaryIdentityInput) | ({
    "type": "corporate";
} & CorporateBeneficiaryIdentityInput);
export type BeneficiaryContactInput = {
    phone?: Phone | null;
    email?: Email | null;
    address?: AddressInput | null;
};
export type Currency = "AED" | "AFN" | "ALL" | "AMD" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BOV" | "BRL" | "BSD" | "BTN" | "BWP" | "BYN" | "BZD" | "CAD" | "CDF" | "CHE" | "CHF" | "CHW" | "CLF" | "CLP" | "CNY" | "COP" | "COU" | "CRC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HTG" | "HUF" | "IDR" | "ILS" | "INR" | "IQD" | "IRR" | "ISK" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MXV" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLE" | "SOS" | "SRD" | "SSP" | "STN" | "SVC" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "USN" | "UYI" | "UYU" | "UYW" | "UZS" | "VED" | "VES" | "VND" | "VUV" | "WST" | "XAD" | "XAF" | "XCD" | "XCG" | "XOF" | "XPF" | "YER" | "ZAR" | "ZMW" | "ZWG";
export type BeneficiaryRoutingCodesInput = {
    [key: string]: Text | null;
};
export type BeneficiaryBankAccountInput = {
    accountHolderName?: Text | null;
    accountHolderType?: ("individual" | "corporate") | null;
    bankName?: Text | null;
    alias?: Text | null;
    country: Country;
    currency: Currency;
    accountNumber?: Text | null;
    iban?: Text | null;
    routingCodes?: BeneficiaryRoutingCodesInput | null;
};
export type BeneficiaryInput = {
    clientId: string;
    identity?: BeneficiaryIdentityInput | null;
    fullName?: Text | null;
    title?: Text | null;
    contact?: BeneficiaryContactInput | null;
    bankAccounts: BeneficiaryBankAccountInput[];
};
export type CreateBeneficiaryDirectRequestData = {
    beneficiary: BeneficiaryInput;
};
export type CreateBeneficiaryDirectRequest = {
    workflow: DirectWorkflow;
    data: CreateBeneficiaryDirectRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type MigratedBeneficiaryInput = {
    clientId: string;
};
export type CreateBeneficiaryMigrationRequestData = {
    sourceId: Text;
    beneficiary: MigratedBeneficiaryInput;
};
export type CreateBeneficiaryMigrationRequestConnect = {
    "type": "explicit";
    serviceProvider: Text;
};
export type CreateBeneficiaryMigrationRequest = {
    workflow: MigrationWorkflow;
    data: CreateBeneficiaryMigrationRequestData;
    connect: CreateBeneficiaryMigrationRequestConnect;
    metadata?: MetadataInput;
};
export type CreateBeneficiaryRequest = CreateBeneficiaryDirectRequest | CreateBeneficiaryMigrationRequest;
export type IndividualBeneficiaryIdentity = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
    birthDate: CalendarDate | null;
    country: Country | null;
    identifications: Identification[];
};
export type CorporateBeneficiaryIdentity = {
    "type": "corporate";
    legalName: Text;
    identifications: Identification[];
};
export type BeneficiaryIdentity = ({
    "type": "individual";
} & IndividualBeneficiaryIdentity) | ({
    "type": "corporate";
} & CorporateBeneficiaryIdentity);
export type BeneficiaryContact = {
    phone: Text | null;
    email: Text | null;
    address: Address | null;
};
export type RoutingCodes = {
    [key: string]: Text;
};
export type BeneficiaryBankAccountStatus = "active" | "inactive";
export type BeneficiaryBankAccount = {
    id: string;
    beneficiaryId: string;
    accountHolderName: Text;
    accountHolderType: ("individual" | "corporate") | null;
    bankName: Text | null;
    alias: Text | null;
    country: Country;
    currency: Currency;
    accountNumber: Text | null;
    iban: Text | null;
    routingCodes: RoutingCodes | null;
    status: BeneficiaryBankAccountStatus;
};
export type CreatedBeneficiary = {
    id: string;
    clientId: string;
    identity: BeneficiaryIdentity | null;
    fullName: Text;
    title: Text | null;
    contact: BeneficiaryContact | null;
    address: Address | null;
    bankAccounts: BeneficiaryBankAccount[];
};
export type CreateBeneficiaryResponseData = {
    beneficiary: CreatedBeneficiary;
};
export type CreateBeneficiaryResponseConnect = {
    connection?: MigratedConnection;
};
export type CreateBeneficiaryResponse = {
    workflow: Workflow;
    data: CreateBeneficiaryResponseData;
    connect: CreateBeneficiaryResponseConnect;
    metadata: Metadata;
};
export type Beneficiary = {
    id: string;
    clientId: string;
    identity: BeneficiaryIdentity | null;
    fullName: Text;
    title: Text | null;
    contact: BeneficiaryContact | null;
    address: Address | null;
    bankAccounts?: BeneficiaryBankAccount[];
};
export type BeneficiaryListResponseData = {
    beneficiaries: Beneficiary[];
};
export type BeneficiaryListResponse = {
    workflow: Workflow;
    data: BeneficiaryListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type BeneficiaryResponseData = {
    beneficiary: Beneficiary;
};
export type BeneficiaryResponse = {
    workflow: Workflow;
    data: BeneficiaryResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type BeneficiaryIdentityChange = {
    "type"?: "individual" | "corporate";
    givenName?: Text;
    familyName?: Text;
    birthDate?: CalendarDate | null;
    country?: Country | null;
    legalName?: Text;
    identifications?: IdentificationChange[] | null;
};
export type BeneficiaryContactChange = {
    phone?: Phone | null;
    email?: Email | null;
    address?: AddressChange | null;
};
export type BeneficiaryChange = {
    identity?: BeneficiaryIdentityChange;
    fullName?: Text;
    title?: Text | null;
    contact?: BeneficiaryContactChange | null;
};
export type UpdateBeneficiaryRequestData = {
    beneficiary?: BeneficiaryChange;
    identity?: BeneficiaryIdentityChange;
};
export type UpdateBeneficiaryRequest = {
    workflow: DirectWorkflow;
    data: UpdateBeneficiaryRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateBeneficiaryBankAccountRequestData = {
    beneficiaryBankAccount: BeneficiaryBankAccountInput;
};
export type CreateBeneficiaryBankAccountRequest = {
    workflow: DirectWorkflow;
    data: CreateBeneficiaryBankAccountRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type BeneficiaryBankAccountResponseData = {
    beneficiaryBankAccount: BeneficiaryBankAccount;
};
export type BeneficiaryBankAccountResponse = {
    workflow: Workflow;
    data: BeneficiaryBankAccountResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type BeneficiaryBankAccountListResponseData = {
    beneficiaryBankAccounts: BeneficiaryBankAccount[];
};
export type BeneficiaryBankAccountListResponse = {
    workflow: Workflow;
    data: BeneficiaryBankAccountListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type BeneficiaryRoutingCodesChange = {
    [key: string]: Text;
};
export type BeneficiaryBankAccountChange = {
    accountHolderName?: Text;
    accountHolderType?: ("individual" | "corporate") | null;
    bankName?: Text | null;
    alias?: Text | null;
    accountNumber?: Text | null;
    iban?: Text | null;
    routingCodes?: BeneficiaryRoutingCodesChange | null;
    status?: BeneficiaryBankAccountStatus;
};
export type UpdateBeneficiaryBankAccountRequestData = {
    beneficiaryBankAccount: BeneficiaryBankAccountChange;
};
export type UpdateBeneficiaryBankAccountRequest = {
    workflow: DirectWorkflow;
    data: UpdateBeneficiaryBankAccountRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type BeneficiaryBankAccountFieldRequirement = {
    requirement: "none" | "optional" | "required";
    pattern: Text | null;
};
export type BeneficiaryBankAccountRequirement = {
    currency: Currency;
    country: Country;
    fields: {
        [key: string]: BeneficiaryBankAccountFieldRequirement;
    };
    alternatives: Text[][];
    verificationDirectory: ("pay-uk" | "eu-vop") | null;
};
export type BeneficiaryBankAccountRequirementResponseData = {
    beneficiaryBankAccountRequirement: BeneficiaryBankAccountRequirement;
};
export type BeneficiaryBankAccountRequirementResponse = {
    workflow: Workflow;
    data: BeneficiaryBankAccountRequirementResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ClientPayUkCopWorkflow = {
    code: "client.pay-uk.cop";
};
export type IndividualVerificationIdentityInput = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
};
export type CorporateVerificationIdentityInput = {
    "type": "corporate";
    legalName: Text;
};
export type VerificationIdentityInput = ({
    "type": "individual";
} & IndividualVerificationIdentityInput) | ({
    "type": "corporate";
} & CorporateVerificationIdentityInput);
export type VerificationBankAccountInput = {
    accountNumber: Text;
    routingCodes: BeneficiaryRoutingCodesInput;
};
export type VerificationAttributesInput = {
    secondaryIdentification?: Text | null;
};
export type BeneficiaryVerificationInput = {
    clientId: string;
    identity: VerificationIdentityInput;
    bankAccount: VerificationBankAccountInput;
    attributes?: VerificationAttributesInput | null;
};
export type CreateBeneficiaryVerificationClientPayUkCopRequestData = {
    beneficiary: BeneficiaryVerificationInput;
};
export type VerificationConnectInput = {
    "type"?: ("explicit" | "implicit") | null;
    serviceProvider?: Text | null;
};
export type CreateBeneficiaryVerificationClientPayUkCopRequest = {
    workflow: ClientPayUkCopWorkflow;
    data: CreateBeneficiaryVerificationClientPayUkCopRequestData;
    connect?: VerificationConnectInput | null;
    metadata?: MetadataInput;
};
export type ClientEuVopCopWorkflow = {
    code: "client.eu-vop.cop";
};
export type IbanVerificationBankAccountInput = {
    iban: Text;
    routingCodes?: BeneficiaryRoutingCodesInput | null;
};
export type VerificationIdentificationInput = {
    "type": "lei" | "vat-number" | "tax-identification-number" | "registration-number";
    identificationNumber: Text;
};
export type IbanVerificationAttributesInput = {
    secondaryIdentification?: Text | null;
    identification?: VerificationIdentificationInput | null;
};
export type IbanBeneficiaryVerificationInput = {
    clientId: string;
    identity: VerificationIdentityInput;
    bankAccount: IbanVerificationBankAccountInput;
    attributes?: IbanVerificationAttributesInput | null;
};
export type CreateBeneficiaryVerificationClientEuVopCopRequestData = {
    beneficiary: IbanBeneficiaryVerificationInput;
};
export type CreateBeneficiaryVerificationClientEuVopCopRequest = {
    workflow: ClientEuVopCopWorkflow;
    data: CreateBeneficiaryVerificationClientEuVopCopRequestData;
    connect?: VerificationConnectInput | null;
    metadata?: MetadataInput;
};
export type CreateBeneficiaryVerificationRequest = CreateBeneficiaryVerificationClientPayUkCopRequest | CreateBeneficiaryVerificationClientEuVopCopRequest;
export type IndividualVerificationIdentity = {
    "type": "individual";
    givenName: Text;
    familyName: Text;
};
export type CorporateVerificationIdentity = {
    "type": "corporate";
    legalName: Text;
};
export type VerificationIdentity = ({
    "type": "individual";
} & IndividualVerificationIdentity) | ({
    "type": "corporate";
} & CorporateVerificationIdentity);
export type VerificationBankAccount = {
    accountNumber: Text | null;
    iban: Text | null;
    routingCodes: RoutingCodes | null;
};
export type VerificationIdentification = {
    "type": "lei" | "vat-number" | "tax-identification-number" | "registration-number";
    identificationNumber: Text;
};
export type VerificationAttributes = {
    secondaryIdentification: Text | null;
    identification: VerificationIdentification | null;
    schemeReasonCode: Text | null;
};
export type VerificationReason = "close-match" | "corporate-account-name-matched" | "individual-account-name-matched" | "corporate-account-close-match" | "individual-account-close-match" | "incorrect-account-number" | "account-type-not-supported" | "account-switched" | "sort-code-not-supported" | "invalid-secondary-identifier" | "opted-out";
export type VerificationResult = {
    matched: boolean;
    reason: VerificationReason | null;
    accountHolderName: Text | null;
};
export type BeneficiaryVerification = {
    id: string;
    clientId: string;
    directory: "pay-uk" | "eu-vop";
    serviceProvider: Text;
    beneficiaryIdentity: VerificationIdentity;
    identity: VerificationIdentity;
    beneficiaryBankAccount: VerificationBankAccount;
    bankAccount: VerificationBankAccount;
    attributes: VerificationAttributes;
    result: VerificationResult;
};
export type BeneficiaryVerificationResponseData = {
    beneficiaryVerification: BeneficiaryVerification;
};
export type BeneficiaryVerificationResponse = {
    workflow: Workflow;
    data: BeneficiaryVerificationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ClientIssuingWorkflow = {
    code: "client.issuing";
};
export type AccountInput = {
    clientId: string;
    currency: Currency;
    country?: Country | null;
    alias?: Text | null;
};
export type CreateAccountClientIssuingRequestData = {
    account: AccountInput;
};
export type ConnectMethod = "built-in" | "plug-in";
export type CreateAccountClientIssuingRequestConnect = {
    method?: ConnectMethod | null;
    "type"?: ("explicit" | "implicit") | null;
    serviceProvider?: Text | null;
};
export type CreateAccountClientIssuingRequest = {
    workflow: ClientIssuingWorkflow;
    data: CreateAccountClientIssuingRequestData;
    connect?: CreateAccountClientIssuingRequestConnect | null;
    metadata?: MetadataInput;
};
export type ClientMigrationWorkflow = {
    code: "client.migration";
};
export type MigratedAccountInput = {
    clientId: string;
    currency: Currency;
    alias?: Text | null;
};
export type CreateAccountClientMigrationRequestData = {
    sourceId: Text;
    account: MigratedAccountInput;
};
export type CreateAccountClientMigrationRequestConnect = {
    "type": "explicit";
    serviceProvider: Text;
    method?: ConnectMethod | null;
};
export type CreateAccountClientMigrationRequest = {
    workflow: ClientMigrationWorkflow;
    data: CreateAccountClientMigrationRequestData;
    connect: CreateAccountClientMigrationRequestConnect;
    metadata?: MetadataInput;
};
export type ClientSubAccountWorkflow = {
    code: "client.sub-account";
};
export type SubAccountInput = {
    mainAccountId: string;
    clientId?: string | null;
    currency?: Currency | null;
    alias?: Text | null;
};
export type CreateAccountClientSubAccountRequestData = {
    account: SubAccountInput;
};
export type CreateAccountClientSubAccountRequest = {
    workflow: ClientSubAccountWorkflow;
    data: CreateAccountClientSubAccountRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateAccountRequest = CreateAccountClientIssuingRequest | CreateAccountClientMigrationRequest | CreateAccountClientSubAccountRequest;
export type AccountStatus = "pending" | "active" | "inactive" | "suspended" | "closed" | "declined";
export type ConnectionState = "creation-in-progress" | "creation-failed" | "dependency-failed" | "completed-up-to-date" | "update-in-progress" | "completed-outdated";
export type ConnectionStatus = "active" | "inactive" | "closed";
export type ConnectionError = {
    category: "functional" | "technical";
    origin: "customer" | "platform" | "provider";
    code: Text;
    message: Text;
    attributes: {
        [key: string]: Text;
    };
};
export type Connection = {
    id: string;
    method: ConnectMethod;
    serviceProvider: Text;
    reference: Text | null;
    state: ConnectionState;
    status: ConnectionStatus | null;
    error: ConnectionError | null;
};
export type Account = {
    id: string;
    clientId: string;
    mainAccountId: string | null;
    status: AccountStatus;
    country: Country;
    currency: Currency;
    alias: Text;
    routingCodes: RoutingCodes | null;
    iban: Text | null;
    accountNumber: Text | null;
    ledgerNumber: string;
    availableBalance: number;
    receivableBalance: number;
    serviceProvider: Text | null;
    accountHolderName: Text;
    accountHolderIdentityType: "individual" | "corporate";
    connection: Connection | null;
};
export type CreateAccountResponseData = {
    account: Account;
};
export type CreateAccountResponseConnect = {
    connection?: MigratedConnection;
};
export type CreateAccountResponse = {
    workflow: Workflow;
    data: CreateAccountResponseData;
    connect: CreateAccountResponseConnect;
    metadata: Metadata;
};
export type AccountListResponseData = {
    accounts: Account[];
};
export type AccountListResponse = {
    workflow: Workflow;
    data: AccountListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ClientDirectWorkflow = {
    code: "client.direct";
};
export type RoutingCodesChange = {
    [key: string]: Text;
};
export type ConnectionErrorChange = {
    category: "functional" | "technical";
    origin: "customer" | "platform" | "provider";
    code: Text;
    message: Text;
    attributes?: {
        [key: string]: Text;
    } | {
        [key: string]: Text;
    };
};
export type ConnectionChange = {
    id?: string;
    reference?: Text | null;
    state?: ConnectionState;
    status?: ConnectionStatus | null;
    error?: ConnectionErrorChange | null;
};
export type AccountChange = {
    alias?: Text | null;
    status?: AccountStatus;
    iban?: Text | null;
    accountNumber?: Text | null;
    routingCodes?: RoutingCodesChange | null;
    connection?: ConnectionChange;
};
export type UpdateAccountRequestData = {
    account: AccountChange;
};
export type UpdateAccountRequest = {
    workflow: ClientDirectWorkflow;
    data: UpdateAccountRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type AccountResponseData = {
    account: Account;
};
export type AccountResponse = {
    workflow: Workflow;
    data: AccountResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ClientSummary = {
    id: string;
    clientNumber: string;
    status: ClientStatus;
    fullName: Text;
    identity: ClientIdentity;
};
export type GetAccountResponseData = {
    account: Account;
    client?: ClientSummary;
};
export type GetAccountResponseConnect = {
    connection?: Connection;
};
export type GetAccountResponse = {
    workflow: Workflow;
    data: GetAccountResponseData;
    connect: GetAccountResponseConnect;
    metadata: Metadata;
};
export type IntermediaryAccount = {
    accountHolderName: Text;
    country: Country;
    currency: Currency;
    routingCodes: RoutingCodes | null;
    accountNumber: Text | null;
    iban: Text | null;
    ledgerNumber: Text | null;
    reference: Text | null;
    bankName: Text | null;
    bankAddress: Text | null;
    intermediaryAccount: null;
};
export type DepositInformation = {
    accountHolderName: Text;
    country: Country;
    currency: Currency;
    routingCodes: RoutingCodes | null;
    accountNumber: Text | null;
    iban: Text | null;
    ledgerNumber: Text | null;
    reference: Text | null;
    bankName: Text | null;
    bankAddress: Text | null;
    intermediaryAccount: IntermediaryAccount | null;
};
export type GetDepositInformationResponseData = {
    depositInformation: {
        [key: string]: DepositInformation;
    };
};
export type GetDepositInformationResponse = {
    workflow: Workflow;
    data: GetDepositInformationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type CreateBalanceAdjustmentCorrectionWorkflow = {
    code: "correction";
    "type": "fee" | "unknown";
    transactionType: "incoming-transfer" | "unconnected-service-provider";
};
export type BalanceAdjustmentDirection = "debit" | "credit";
export type BalanceCorrectionInput = {
    accountId: string;
    direction: BalanceAdjustmentDirection;
    amount: number;
    currency: Currency;
    description?: Text | null;
    unconnectedServiceProvider?: Text | null;
};
export type CreateBalanceAdjustmentCorrectionRequestData = {
    balanceAdjustment: BalanceCorrectionInput;
};
export type CreateBalanceAdjustmentCorrectionRequest = {
    workflow: CreateBalanceAdjustmentCorrectionWorkflow;
    data: CreateBalanceAdjustmentCorrectionRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateBalanceAdjustmentSynchronizationWorkflow = {
    code: "synchronization";
    "type": "unconnected-service-provider";
};
export type BalanceSynchronizationInput = {
    accountId: string;
    direction: BalanceAdjustmentDirection;
    amount: number;
    currency: Currency;
    description?: Text | null;
    unconnectedServiceProvider: Text;
};
export type CreateBalanceAdjustmentSynchronizationRequestData = {
    balanceAdjustment: BalanceSynchronizationInput;
};
export type CreateBalanceAdjustmentSynchronizationRequest = {
    workflow: CreateBalanceAdjustmentSynchronizationWorkflow;
    data: CreateBalanceAdjustmentSynchronizationRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateBalanceAdjustmentRequest = CreateBalanceAdjustmentCorrectionRequest | CreateBalanceAdjustmentSynchronizationRequest;
export type BalanceAdjustment = {
    id: string;
    accountId: string;
    direction: BalanceAdjustmentDirection;
    transactionNumber: string;
    amount: number;
    currency: Currency;
    description: Text | null;
    unconnectedServiceProvider: Text | null;
};
export type BalanceAdjustmentResponseData = {
    balanceAdjustment: BalanceAdjustment;
};
export type BalanceAdjustmentResponse = {
    workflow: Workflow;
    data: BalanceAdjustmentResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type StatementTransactionType = "incoming-transfer" | "outgoing-transfer" | "exchange-transaction" | "balance-adjustment";
export type StatementEntryType = "principal" | "fee" | "principal-sell" | "principal-buy" | "cancellation-fee";
export type AccountStatement = {
    accountId: string;
    transactionNumber: string;
    entryDateTime: DateTime;
    direction: "debit" | "credit";
    amount: number;
    transactionType: StatementTransactionType;
    entryType: StatementEntryType;
    balance: number;
    currency: Currency;
    narrative: Text | null;
};
export type AccountStatementListResponseData = {
    accountStatements: AccountStatement[];
};
export type AccountStatementListResponse = {
    workflow: Workflow;
    data: AccountStatementListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type Balance = {
    accountId: string;
    currency: Currency;
    at: DateTime;
    balance: number;
};
export type BalanceResponseData = {
    balance: Balance;
};
export type BalanceResponse = {
    workflow: Workflow;
    data: BalanceResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type SenderBankAccountInput = {
    accountHolderName?: Text | null;
    alias?: Text | null;
    ledgerNumber?: Text | null;
    accountNumber?: Text | null;
    iban?: Text | null;
    country?: Country | null;
    currency?: Currency | null;
    routingCodes?: {
        [key: string]: Text | null;
    } | {
        [key: string]: Text | null;
    };
};
export type ProvisionedAccountCreditInput = {
    clientId?: string | null;
    accountId: string;
    amount: number;
    currency: Currency;
    scope: "internal" | "external";
    scheme?: string | null;
    senderBankAccount?: SenderBankAccountInput | null;
    senderName?: Text | null;
    senderAddress?: AddressInput | null;
    senderToReceiverInformation?: Text | null;
    serviceProviderId?: Text | null;
};
export type CreateProvisionedAccountCreditRequestData = {
    provisionedAccountCredit: ProvisionedAccountCreditInput;
};
export type CreateProvisionedAccountCreditRequest = {
    workflow: ClientDirectWorkflow;
    data: CreateProvisionedAccountCreditRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type PartyAccount = {
    accountHolderName: Text | null;
    alias: Text | null;
    ledgerNumber: Text | null;
    accountNumber: Text | null;
    iban: Text | null;
    country: Country | null;
    currency: Currency | null;
    routingCodes: RoutingCodes | null;
};
export type ProvisionedAccountCredit = {
    id: string;
    clientId: string | null;
    accountId: string | null;
    amount: number;
    currency: Currency;
    scope: "internal" | "external";
    scheme: Text | null;
    senderBankAccount: PartyAccount | null;
    senderName: Text | null;
    senderAddress: Address | null;
    senderToReceiverInformation: Text | null;
    serviceProviderId: Text | null;
    serviceProvider: Text;
    receiverAccount: PartyAccount | null;
};
export type ProvisionedAccountCreditResponseData = {
    provisionedAccountCredit: ProvisionedAccountCredit;
};
export type ProvisionedAccountCreditResponse = {
    workflow: Workflow;
    data: ProvisionedAccountCreditResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ProvisionedAccountCreditListResponseData = {
    provisionedAccountCredits: ProvisionedAccountCredit[];
};
export type ProvisionedAccountCreditListResponse = {
    workflow: Workflow;
    data: ProvisionedAccountCreditListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type IncomingTransferStatus = "pending" | "on-hold" | "completed" | "failed";
export type StatusReason = {
    code: Text;
    message: Text;
};
export type IncomingTransferWait = "compliance" | "account" | "match" | "outgoing-transfer" | "provider";
export type OutgoingTransferStatus = "pending" | "processing" | "released" | "completed" | "cancelled" | "failed";
export type IncomingTransferReturnShown = {
    outgoingTransferId: string;
    amount: number;
    code: Text;
    status: OutgoingTransferStatus;
};
export type IncomingTransfer = {
    id: string;
    clientId: string | null;
    accountId: string | null;
    transactionNumber: Text;
    /** The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters. */
    paymentReference: string;
    status: IncomingTransferStatus;
    statusReason: StatusReason | null;
    currency: Currency;
    amount: number;
    feeAmount: number;
    feeCurrency: Currency;
    totalAmount: number;
    scope: "internal" | "external";
    scheme: Text | null;
    outgoingTransferId: string | null;
    /** For returned money: the outgoing transfer that paid it. A payment that is returned in parts has one incoming transfer for each part. */
    returnedOutgoingTransferId: string | null;
    provisionedAccountCreditId: string | null;
    serviceProvider: Text;
    serviceProviderId: Text | null;
    serviceProviderReference: Text | null;
    senderInformation: Text | null;
    senderName: Text | null;
    transferDate: CalendarDate | null;
    senderAccount: PartyAccount | null;
    receiverAccount: PartyAccount | null;
    waitingFor: IncomingTransferWait | null;
    /** The outgoing transfers by which completed money goes back to its payer, oldest first: `code` says why, and `status` is the outgoing transfer’s. */
    returns: IncomingTransferReturnShown[];
};
export type IncomingTransferResponseData = {
    incomingTransfer: IncomingTransfer;
};
export type IncomingTransferResponse = {
    workflow: Workflow;
    data: IncomingTransferResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type IncomingTransferListResponseData = {
    incomingTransfers: IncomingTransfer[];
};
export type IncomingTransferListResponse = {
    workflow: Workflow;
    data: IncomingTransferListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type IncomingTransferAssignmentInput = {
    accountId: string;
};
export type AssignIncomingTransferRequestData = {
    incomingTransfer: IncomingTransferAssignmentInput;
};
export type AssignIncomingTransferRequest = {
    workflow: DirectWorkflow;
    data: AssignIncomingTransferRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ReturnReasonInput = {
    code: "AC01" | "AC03" | "AC04" | "AC06" | "AG01" | "AM05" | "AM09" | "BE01" | "BE04" | "CURR" | "CUST" | "FOCR" | "FR01" | "MD07" | "MS02" | "MS03" | "RC01" | "RR04";
};
export type IncomingTransferReturnInput = {
    amount?: number | null;
    statusReason: ReturnReasonInput;
};
export type ReturnIncomingTransferRequestData = {
    incomingTransfer?: IncomingTransferReturnInput | null;
};
export type ReturnIncomingTransferRequest = {
    workflow: DirectWorkflow;
    data?: ReturnIncomingTransferRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ListOutgoingTransferSchemesResponseData = {
    transferSchemes: string[];
};
export type ListOutgoingTransferSchemesResponse = {
    workflow: Workflow;
    data: ListOutgoingTransferSchemesResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type TransferReason = {
    id: string;
    description: Text;
};
export type ListAccountTransferReasonsResponseData = {
    transferReasons: TransferReason[];
};
export type ListAccountTransferReasonsResponse = {
    workflow: Workflow;
    data: ListAccountTransferReasonsResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ListTransferReasonsResponseData = {
    transferReasons: TransferReason[];
};
export type ListTransferReasonsResponse = {
    workflow: Workflow;
    data: ListTransferReasonsResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type GetOutgoingTransferDateMetadataResponseData = {
    nextAvailableDate: CalendarDate;
    nextCutoffDateTime: DateTime | null;
    unavailableDates: CalendarDate[];
};
export type GetOutgoingTransferDateMetadataResponse = {
    workflow: Workflow;
    data: GetOutgoingTransferDateMetadataResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type WorkflowPricingInput = {
    sourcingMethod: "explicit" | "implicit";
    enabled?: boolean | null;
    chargingType?: "fee" | null;
    chargingMethod?: "on-source" | null;
};
export type CreateOutgoingTransferWorkflow = {
    code: "client.direct";
    dryRun?: boolean | null;
    pricing?: WorkflowPricingInput | null;
};
export type TransferSourceInput = {
    "type": "client-account";
    accountId: string;
};
export type ClientAccountDestinationInput = {
    "type": "client-account";
    accountId: string;
};
export type BeneficiaryBankAccountDestinationInput = {
    "type": "beneficiary-bank-account";
    beneficiaryBankAccountId: string;
};
export type TransferDestinationInput = ({
    "type": "client-account";
} & ClientAccountDestinationInput) | ({
    "type": "beneficiary-bank-account";
} & BeneficiaryBankAccountDestinationInput);
export type OutgoingTransferInput = {
    clientId: string;
    transferDate?: CalendarDate | null;
    currency: Currency;
    amount: number;
    scope: "internal" | "external";
    scheme?: string | null;
    description?: Text | null;
    transferReasonId?: string | null;
    transferCustomReason?: Text | null;
    source: TransferSourceInput;
    destination: TransferDestinationInput;
    schemeAttributes?: {
        [key: string]: Text | null;
    } | {
        [key: string]: Text | null;
    };
    /** The verification whose result the payer saw before the decision to pay this account. The audit log keeps who paid after which result. */
    beneficiaryVerificationId?: string | null;
};
export type PricingInput = {
    "type": "ratio";
    ratio: Text;
    boundaryCurrency?: Currency | null;
    minimumAmount?: number | null;
    maximumAmount?: number | null;
};
export type CreateOutgoingTransferRequestData = {
    outgoingTransfer: OutgoingTransferInput;
    pricing?: PricingInput | null;
};
export type CreateOutgoingTransferRequest = {
    workflow: CreateOutgoingTransferWorkflow;
    data: CreateOutgoingTransferRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type TransferSource = {
    "type": "client-account";
    accountId: string;
};
export type ClientAccountDestination = {
    "type": "client-account";
    accountId: string;
};
export type BeneficiaryBankAccountDestination = {
    "type": "beneficiary-bank-account";
    beneficiaryBankAccountId: string | null;
    beneficiaryId: string | null;
};
export type TransferDestination = ({
    "type": "client-account";
} & ClientAccountDestination) | ({
    "type": "beneficiary-bank-account";
} & BeneficiaryBankAccountDestination);
export type RequirementConfiguration = {
    transferDateStatus: "not-checked" | "fulfilled" | "not-fulfilled";
    complianceCheckStatus: "not-checked" | "fulfilled" | "not-fulfilled" | "not-required";
    balanceCheckStatus: "not-checked" | "fulfilled" | "not-fulfilled";
    authorizationStatus: "not-checked" | "fulfilled" | "not-fulfilled" | "not-required";
};
export type PlannedOutgoingTransfer = {
    clientId: string;
    transferDate: CalendarDate;
    originalTransferDate: CalendarDate;
    rollCount: number;
    cutOffDateTime: DateTime | null;
    currency: Currency;
    amount: number;
    feeCurrency: Currency;
    feeAmount: number;
    totalAmount: number;
    description: Text | null;
    transferReasonId: string | null;
    transferCustomReason: Text | null;
    scope: "internal" | "external";
    scheme: string | null;
    ownerType: "client";
    source: TransferSource;
    destination: TransferDestination;
    requirementConfiguration: RequirementConfiguration;
};
export type PlannedOutgoingTransferResponseData = {
    outgoingTransfer: PlannedOutgoingTransfer;
};
export type PlannedOutgoingTransferResponse = {
    workflow: Workflow;
    data: PlannedOutgoingTransferResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type CreatedOutgoingTransfer = {
    id: string;
    transactionNumber: Text;
    /** The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters. */
    paymentReference: string;
    status: OutgoingTransferStatus;
    statusReason: StatusReason | null;
    clientId: string;
    transferDate: CalendarDate;
    originalTransferDate: CalendarDate;
    rollCount: number;
    cutOffDateTime: DateTime | null;
    currency: Currency;
    amount: number;
    feeCurrency: Currency;
    feeAmount: number;
    totalAmount: number;
    description: Text | null;
    transferReasonId: string | null;
    transferCustomReason: Text | null;
    scope: "internal" | "external";
    scheme: string | null;
    ownerType: "client";
    source: TransferSource;
    destination: TransferDestination;
    returned: boolean;
    incomingTransferId: string | null;
    serviceProviderId: Text | null;
    serviceProviderReference: Text | null;
    requirementConfiguration: RequirementConfiguration;
};
export type CreatedOutgoingTransferResponseData = {
    outgoingTransfer: CreatedOutgoingTransfer;
};
export type CreatedOutgoingTransferResponse = {
    workflow: Workflow;
    data: CreatedOutgoingTransferResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type OutgoingTransferWait = "authorization" | "compliance" | "date" | "balance" | "account" | "provider" | "provider-decision" | "retry" | "recall" | "caller" | "next-window";
export type OutgoingTransferBeneficiary = {
    fullName: Text;
    identity: object | null;
    address: object | null;
    account: PartyAccount | null;
    title: Text | null;
};
export type OutgoingTransfer = {
    id: string;
    transactionNumber: Text;
    /** The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters. */
    paymentReference: string;
    status: OutgoingTransferStatus;
    statusReason: StatusReason | null;
    clientId: string;
    transferDate: CalendarDate;
    originalTransferDate: CalendarDate;
    rollCount: number;
    cutOffDateTime: DateTime | null;
    currency: Currency;
    amount: number;
    feeCurrency: Currency;
    feeAmount: number;
    totalAmount: number;
    description: Text | null;
    transferReasonId: string | null;
    transferCustomReason: Text | null;
    scope: "internal" | "external";
    scheme: string | null;
    ownerType: "client";
    source: TransferSource;
    destination: TransferDestination;
    returned: boolean;
    incomingTransferId: string | null;
    serviceProviderId: Text | null;
    serviceProviderReference: Text | null;
    requirementConfiguration: RequirementConfiguration;
    beneficiary: OutgoingTransferBeneficiary | null;
    /** For a return to a payer: the incoming transfer whose money, all or a part, goes back. Such a transfer has no beneficiary’s bank account, and `beneficiary` is the payer. */
    returnedIncomingTransferId: string | null;
    returnReason: StatusReason | null;
    waitingFor: OutgoingTransferWait | null;
    /** The incoming transfers by which a returned payment came back, oldest first: one for each part. Each names the payment in `returnedOutgoingTransferId`. */
    returningIncomingTransferIds: string[];
};
export type OutgoingTransferListResponseData = {
    outgoingTransfers: OutgoingTransfer[];
};
export type OutgoingTransferListResponse = {
    workflow: Workflow;
    data: OutgoingTransferListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type CreateOutgoingTransferBatchWorkflow = {
    code: "client.direct";
    mode?: ("each" | "all") | null;
    pricing?: WorkflowPricingInput | null;
};
export type BatchItemInput = {
    reference: Text;
    outgoingTransfer: OutgoingTransferInput;
    pricing?: PricingInput | null;
};
export type CreateOutgoingTransferBatchRequestData = {
    items: BatchItemInput[];
};
export type CreateOutgoingTransferBatchRequest = {
    workflow: CreateOutgoingTransferBatchWorkflow;
    data: CreateOutgoingTransferBatchRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreatedBatchItem = {
    reference: Text;
    result: "created";
    outgoingTransfer: CreatedOutgoingTransfer;
};
export type ReplayedBatchItem = {
    reference: Text;
    result: "replayed";
    outgoingTransfer: CreatedOutgoingTransfer;
};
export type RejectedBatchItem = {
    reference: Text;
    result: "rejected";
    error: Error;
};
export type BatchResult = ({
    result: "created";
} & CreatedBatchItem) | ({
    result: "replayed";
} & ReplayedBatchItem) | ({
    result: "rejected";
} & RejectedBatchItem);
export type CreateOutgoingTransferBatchResponseData = {
    results: BatchResult[];
};
export type CreateOutgoingTransferBatchResponse = {
    workflow: Workflow;
    data: CreateOutgoingTransferBatchResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type RequirementConfigurationChange = {
    authorizationStatus: "fulfilled";
};
export type StatusReasonChange = {
    code: string;
    message?: Text;
};
export type OutgoingTransferChange = {
    status?: "cancelled" | "released" | "completed" | "failed";
    requirementConfiguration?: RequirementConfigurationChange;
    returned?: true;
    statusReason?: StatusReasonChange;
    serviceProviderId?: Text;
    serviceProviderReference?: Text;
};
export type UpdateOutgoingTransferRequestData = {
    outgoingTransfer: OutgoingTransferChange;
};
export type UpdateOutgoingTransferRequest = {
    workflow: ClientDirectWorkflow;
    data: UpdateOutgoingTransferRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type OutgoingTransferResponseData = {
    outgoingTransfer: OutgoingTransfer;
};
export type OutgoingTransferResponse = {
    workflow: Workflow;
    data: OutgoingTransferResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type RecallOutgoingTransferRequestData = {};
export type RecallOutgoingTransferRequest = {
    workflow: DirectWorkflow;
    data?: RecallOutgoingTransferRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ComplianceCheckStatus = "in-review" | "approved" | "rejected" | "skipped";
export type ComplianceResult = "all-passed" | "soft-stop" | "hard-stop" | "hard-stop-accepted" | "hard-stop-rejected";
export type ComplianceRule = {
    name: Text;
    kind: "amount" | "velocity" | "country" | "name";
};
export type TransactionMonitoring = {
    result: ComplianceResult | null;
    rule?: ComplianceRule;
};
export type ProcedureResults = {
    "transaction-monitoring"?: TransactionMonitoring;
};
export type ComplianceCheck = {
    status: ComplianceCheckStatus;
    procedureResults: ProcedureResults;
    decidedAt?: DateTime;
    decidedBy?: Text;
};
export type ComplianceCheckResponseData = {
    complianceCheck: ComplianceCheck;
};
export type ComplianceCheckResponse = {
    workflow: Workflow;
    data: ComplianceCheckResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ProcedureResultChange = {
    procedure: "transaction-monitoring";
    result: ComplianceResult;
};
export type ComplianceDecisionChange = {
    procedureResult: ProcedureResultChange;
};
export type UpdateIncomingTransferComplianceCheckRequestData = {
    complianceCheck: ComplianceDecisionChange;
};
export type UpdateIncomingTransferComplianceCheckRequest = {
    workflow: DirectWorkflow;
    data: UpdateIncomingTransferComplianceCheckRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type UpdateOutgoingTransferComplianceCheckRequestData = {
    complianceCheck: ComplianceDecisionChange;
};
export type UpdateOutgoingTransferComplianceCheckRequest = {
    workflow: DirectWorkflow;
    data: UpdateOutgoingTransferComplianceCheckRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ReconciliationStatus = "balanced" | "breaks";
export type ReconciliationSide = {
    creditCount: number;
    creditAmount: number;
    debitCount: number;
    debitAmount: number;
};
export type Reconciliation = {
    id: string;
    serviceProvider: Text;
    currency: Currency;
    date: CalendarDate;
    status: ReconciliationStatus;
    breakCount: number;
    openBreakCount: number;
    statement: ReconciliationSide;
    ledger: ReconciliationSide;
    comparedDateTime: DateTime;
};
export type ReconciliationListResponseData = {
    reconciliations: Reconciliation[];
};
export type ReconciliationListResponse = {
    workflow: Workflow;
    data: ReconciliationListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ReconciliationResponseData = {
    reconciliation: Reconciliation;
};
export type ReconciliationResponse = {
    workflow: Workflow;
    data: ReconciliationResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ReconciliationBreakKind = "statement-unknown-payment" | "statement-not-booked" | "statement-not-at-provider" | "statement-amount-differs" | "statement-payment-missing" | "statement-account-differs" | "statement-payment-doubled" | "statement-booked-late" | "statement-day-differs" | "statement-moved-nothing" | "statement-entry-differs" | "statement-charges" | "statement-batch-differs" | "statement-summary-differs" | "statement-balance-differs" | "statement-reference-ambiguous" | "statement-entry-unreadable" | "statement-sums-differ" | "callback-contradicts" | "account-closed-with-money" | "account-outcome-contradicts" | "account-outcome-impossible" | "account-of-another-provider";
export type ReconciliationBreakStatus = "open" | "resolved";
export type ReconciliationFacts = {
    amount: number;
    currency: Currency;
    account: Text | null;
    date: CalendarDate | null;
    count: number | null;
};
export type ReconciliationDifference = {
    creditCount: number;
    creditAmount: number;
    debitCount: number;
    debitAmount: number;
};
export type ReconciliationBreak = {
    id: string;
    kind: ReconciliationBreakKind;
    serviceProvider: Text;
    currency: Currency | null;
    date: CalendarDate | null;
    reference: Text | null;
    resourceId: string | null;
    expected: ReconciliationFacts | null;
    actual: ReconciliationFacts | null;
    difference: ReconciliationDifference | null;
    status: ReconciliationBreakStatus;
    note: Text | null;
    foundDateTime: DateTime;
    resolvedDateTime: DateTime | null;
    resolvedBy: Text | null;
};
export type ReconciliationBreakListResponseData = {
    reconciliationBreaks: ReconciliationBreak[];
};
export type ReconciliationBreakListResponse = {
    workflow: Workflow;
    data: ReconciliationBreakListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ReconciliationBreakResponseData = {
    reconciliationBreak: ReconciliationBreak;
};
export type ReconciliationBreakResponse = {
    workflow: Workflow;
    data: ReconciliationBreakResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ReconciliationBreakResolutionChange = {
    status: "resolved";
    note: Text;
};
export type ResolveReconciliationBreakRequestData = {
    reconciliationBreak: ReconciliationBreakResolutionChange;
};
export type ResolveReconciliationBreakRequest = {
    workflow: DirectWorkflow;
    data: ResolveReconciliationBreakRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ConsentThirdPartyProvider = {
    name: Text;
    website: Text;
    applicationName: Text;
    applicationDescription: Text;
    applicationWebsite: Text;
};
export type ConsentStatus = "awaiting-authorisation" | "awaiting-exchange" | "authorised" | "consumed" | "rejected" | "revoked" | "expired";
export type ConsentScope = "accounts" | "payments";
export type CreditorAccount = {
    schemeName: Text;
    identification: Text;
    name: Text;
};
export type ConsentContent = {
    scope: ConsentScope;
    paymentScope: ("domestic" | "international") | null;
    paymentType: ("standard" | "scheduled") | null;
    instructedAmount: number | null;
    instructedCurrency: Currency | null;
    creditorAccount: CreditorAccount | null;
    currencyOfTransfer: Currency | null;
    requestedExecutionDateTime: DateTime | null;
};
export type Consent = {
    id: string;
    thirdPartyProvider: ConsentThirdPartyProvider;
    status: ConsentStatus;
    content: ConsentContent;
    userId: string | null;
    accounts: string[] | null;
    requestCreatedDateTime: DateTime;
    requestExpiryDateTime: DateTime;
    grantedDateTime: DateTime | null;
    expiryDateTime: DateTime | null;
};
export type ConsentResponseData = {
    consent: Consent;
};
export type ConsentResponse = {
    workflow: Workflow;
    data: ConsentResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ConsentApprovalChange = {
    action: "approve";
    consentId?: string;
    userId: string;
    accounts: string[];
};
export type ConsentRejectionChange = {
    action: "reject";
    consentId?: string;
};
export type ConsentRevocationChange = {
    action: "revoke";
    consentId?: string;
};
export type ConsentActionChange = ({
    action: "approve";
} & ConsentApprovalChange) | ({
    action: "reject";
} & ConsentRejectionChange) | ({
    action: "revoke";
} & ConsentRevocationChange);
export type UpdateConsentRequestData = {
    consent?: ConsentActionChange;
    accountOpenBankingConsent?: ConsentActionChange;
};
export type UpdateConsentRequest = {
    workflow: DirectWorkflow;
    data: UpdateConsentRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ConsentOutcome = {
    location?: string;
    consent?: Consent;
};
export type ConsentOutcomeResponseData = {
    resource: ConsentOutcome;
};
export type ConsentOutcomeResponse = {
    workflow: Workflow;
    data: ConsentOutcomeResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ConsentListResponseData = {
    consents: Consent[];
};
export type ConsentListResponse = {
    workflow: Workflow;
    data: ConsentListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type AccountsConsentContentInput = {
    scope: "accounts";
};
export type CreditorAccountInput = {
    schemeName: "UK.OBIE.SortCodeAccountNumber" | "UK.OBIE.IBAN";
    identification: Text;
    name: Text;
};
export type PaymentsConsentContentInput = {
    scope: "payments";
    paymentScope: "domestic" | "international";
    paymentType: "standard" | "scheduled";
    instructedAmount: number;
    instructedCurrency: Currency;
    creditorAccount: CreditorAccountInput;
    currencyOfTransfer?: Currency | null;
    requestedExecutionDateTime?: DateTime | null;
};
export type ConsentContentInput = ({
    scope: "accounts";
} & AccountsConsentContentInput) | ({
    scope: "payments";
} & PaymentsConsentContentInput);
export type ConsentRequestInput = {
    content: ConsentContentInput;
    redirectUri: string;
    state: string;
    nonce: string;
};
export type RequestConsentRequestData = {
    consent: ConsentRequestInput;
};
export type RequestConsentRequest = {
    workflow: DirectWorkflow;
    data: RequestConsentRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ExchangeConsentCodeRequest = {
    grant_type: "authorization_code";
    code: string;
    redirect_uri: string;
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    /** A JWT */
    client_assertion: string;
    /** If sent, the id of the third-party provider that signs the assertion */
    client_id?: string;
};
export type AccessedAccount = {
    id: string;
    status: AccountStatus;
    country: Country;
    currency: Currency;
    alias: Text;
    routingCodes: RoutingCodes | null;
    iban: Text | null;
    accountNumber: Text | null;
    accountHolderName: Text;
};
export type ListAccessedAccountsResponseData = {
    accounts: AccessedAccount[];
};
export type ListAccessedAccountsResponse = {
    workflow: Workflow;
    data: ListAccessedAccountsResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type AccessedBalance = {
    accountId: string;
    currency: Currency;
    availableBalance: number;
    bookedBalance: number;
    at: DateTime;
};
export type ListAccessedBalancesResponseData = {
    balances: AccessedBalance[];
};
export type ListAccessedBalancesResponse = {
    workflow: Workflow;
    data: ListAccessedBalancesResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type AccessedTransaction = {
    accountId: string;
    transactionNumber: string;
    entryDateTime: DateTime;
    direction: "debit" | "credit";
    amount: number;
    transactionType: StatementTransactionType;
    entryType: StatementEntryType;
    balance: number;
    currency: Currency;
    narrative: Text | null;
};
export type AccessedTransactionListResponseData = {
    transactions: AccessedTransaction[];
};
export type AccessedTransactionListResponse = {
    workflow: Workflow;
    data: AccessedTransactionListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type PaymentInput = {
    instructedAmount: number;
    instructedCurrency: Currency;
    creditorAccount: CreditorAccountInput;
};
export type CreateConsentedPaymentRequestData = {
    payment: PaymentInput;
};
export type CreateConsentedPaymentRequest = {
    workflow: DirectWorkflow;
    data: CreateConsentedPaymentRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreatedPayment = {
    outgoingTransferId: string;
    status: OutgoingTransferStatus;
};
export type CreatedPaymentResponseData = {
    payment: CreatedPayment;
};
export type CreatedPaymentResponse = {
    workflow: Workflow;
    data: CreatedPaymentResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ThirdPartyAlgorithm = "PS256" | "ES256";
export type ThirdPartyKeyInput = {
    kid: string;
    kty: "RSA" | "EC";
    alg?: ThirdPartyAlgorithm | null;
    crv?: "P-256" | null;
    n?: string | null;
    e?: string | null;
    x?: string | null;
    y?: string | null;
    use?: "sig" | null;
    key_ops?: "verify"[] | null;
    ext?: boolean | null;
};
export type ThirdPartyJwksInput = {
    keys: ThirdPartyKeyInput[];
};
export type ThirdPartyProviderInput = {
    name: Text;
    website: string;
    applicationName: Text;
    applicationDescription: Text;
    applicationWebsite: string;
    redirectUris: string[];
    jwks: ThirdPartyJwksInput;
    dpopBoundAccessTokens?: boolean | null;
};
export type CreateThirdPartyProviderRequestData = {
    thirdPartyProvider: ThirdPartyProviderInput;
};
export type CreateThirdPartyProviderRequest = {
    workflow: DirectWorkflow;
    data: CreateThirdPartyProviderRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ThirdPartyKey = {
    kid: string;
    kty: "RSA" | "EC";
    alg?: ThirdPartyAlgorithm;
    crv?: "P-256";
    n?: string;
    e?: string;
    x?: string;
    y?: string;
    use?: "sig";
    key_ops?: "verify"[];
    ext?: boolean;
};
export type ThirdPartyJwks = {
    keys: ThirdPartyKey[];
};
export type ThirdPartyProviderStatus = "active" | "inactive";
export type ThirdPartyProvider = {
    id: string;
    name: Text;
    website: string;
    applicationName: Text;
    applicationDescription: Text;
    applicationWebsite: string;
    redirectUris: string[];
    jwks: ThirdPartyJwks;
    dpopBoundAccessTokens: boolean;
    status: ThirdPartyProviderStatus;
    createdDateTime: DateTime;
    updatedDateTime: DateTime;
};
export type ThirdPartyProviderResponseData = {
    thirdPartyProvider: ThirdPartyProvider;
};
export type ThirdPartyProviderResponse = {
    workflow: Workflow;
    data: ThirdPartyProviderResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type ThirdPartyProviderListResponseData = {
    thirdPartyProviders: ThirdPartyProvider[];
};
export type ThirdPartyProviderListResponse = {
    workflow: Workflow;
    data: ThirdPartyProviderListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ThirdPartyKeyChange = {
    kid: string;
    kty: "RSA" | "EC";
    alg?: ThirdPartyAlgorithm;
    crv?: "P-256";
    n?: string;
    e?: string;
    x?: string;
    y?: string;
    use?: "sig";
    key_ops?: "verify"[];
    ext?: boolean;
};
export type ThirdPartyJwksChange = {
    keys: ThirdPartyKeyChange[];
};
export type ThirdPartyProviderChange = {
    name?: Text;
    website?: string;
    applicationName?: Text;
    applicationDescription?: Text;
    applicationWebsite?: string;
    redirectUris?: string[];
    jwks?: ThirdPartyJwksChange;
    dpopBoundAccessTokens?: boolean;
    status?: ThirdPartyProviderStatus;
};
export type UpdateThirdPartyProviderRequestData = {
    thirdPartyProvider: ThirdPartyProviderChange;
};
export type UpdateThirdPartyProviderRequest = {
    workflow: DirectWorkflow;
    data: UpdateThirdPartyProviderRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type Role = "viewer" | "operator" | "approver" | "compliance" | "admin";
export type TokenAlgorithm = "RS256" | "PS256" | "ES256" | "EdDSA";
export type JwkInput = {
    kty: "RSA" | "EC" | "OKP";
    crv?: ("P-256" | "Ed25519") | null;
    n?: string | null;
    e?: string | null;
    x?: string | null;
    y?: string | null;
    kid?: Text | null;
    alg?: TokenAlgorithm | null;
    use?: "sig" | null;
    key_ops?: "verify"[] | null;
    ext?: boolean | null;
};
export type MachineUserKeyInput = {
    kid: string;
    algorithm: TokenAlgorithm;
    jwk?: JwkInput | null;
    pem?: string | null;
};
export type MachineUserInput = {
    name: Text;
    roles: Role[];
    key: MachineUserKeyInput;
};
export type CreateMachineUserRequestData = {
    machineUser: MachineUserInput;
};
export type CreateMachineUserRequest = {
    workflow: DirectWorkflow;
    data: CreateMachineUserRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type MachineUserStatus = "active" | "revoked";
export type MachineUserKey = {
    id: string;
    kid: Text;
    algorithm: TokenAlgorithm;
    status: MachineUserStatus;
    createdDateTime: DateTime;
    revokedDateTime: DateTime | null;
};
export type MachineUser = {
    id: string;
    name: Text;
    roles: Role[];
    status: MachineUserStatus;
    createdDateTime: DateTime;
    revokedDateTime: DateTime | null;
    keys: MachineUserKey[];
};
export type MachineUserResponseData = {
    machineUser: MachineUser;
};
export type MachineUserResponse = {
    workflow: Workflow;
    data: MachineUserResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type MachineUserListResponseData = {
    machineUsers: MachineUser[];
};
export type MachineUserListResponse = {
    workflow: Workflow;
    data: MachineUserListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type MachineUserChange = {
    name?: Text;
    roles?: Role[];
    status?: MachineUserStatus;
};
export type UpdateMachineUserRequestData = {
    machineUser: MachineUserChange;
};
export type UpdateMachineUserRequest = {
    workflow: DirectWorkflow;
    data: UpdateMachineUserRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type CreateMachineUserKeyRequestData = {
    machineUserKey: MachineUserKeyInput;
};
export type CreateMachineUserKeyRequest = {
    workflow: DirectWorkflow;
    data: CreateMachineUserKeyRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type DeleteMachineUserKeyResponseData = {};
export type DeleteMachineUserKeyResponse = {
    workflow: Workflow;
    data: DeleteMachineUserKeyResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type AuditedResource = "account" | "balance-adjustment" | "bank-file" | "bank-file-request" | "beneficiary" | "beneficiary-bank-account" | "beneficiary-verification" | "calendar" | "client" | "client-relation" | "consent" | "fee-sweep" | "incoming-transfer" | "machine-user" | "outgoing-transfer" | "person" | "provisioned-account-credit" | "reconciliation" | "reconciliation-break" | "remedy-list" | "restore" | "submission" | "third-party-provider" | "user" | "user-client-relation" | "user-invitation" | "webhook-delivery" | "webhook-subscription" | "workflow";
export type AuditEntry = {
    id: string;
    occurredAt: DateTime;
    actor: Text;
    action: Text;
    resource: Text;
    resourceId: Text;
    requestId: Text | null;
    before: {
        [key: string]: unknown;
    } | {
        [key: string]: unknown;
    };
    after: {
        [key: string]: unknown;
    } | {
        [key: string]: unknown;
    };
    role: Role | null;
    reason: Text | null;
};
export type AuditEntryListResponseData = {
    auditEntries: AuditEntry[];
};
export type AuditEntryListResponse = {
    workflow: Workflow;
    data: AuditEntryListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type TimelineProviderCallback = {
    kind: "provider-callback";
    dateTime: DateTime;
    serviceProvider: Text;
    providerEventId: Text;
    "type": string;
    outcome: "applied" | "no-effect" | "waiting" | "break";
};
export type TimelineAuditEntry = {
    kind: "audit-entry";
    dateTime: DateTime;
    id: string;
    actor: Text;
    action: Text;
    resource: Text;
    resourceId: Text;
    requestId: Text | null;
    before: {
        [key: string]: unknown;
    } | {
        [key: string]: unknown;
    };
    after: {
        [key: string]: unknown;
    } | {
        [key: string]: unknown;
    };
    role: Role | null;
    reason: Text | null;
};
export type TimelineRequirement = {
    kind: "requirement";
    dateTime: DateTime;
    requirement: "authorization" | "compliance" | "date" | "balance";
    status: "fulfilled" | "not-fulfilled";
};
export type LedgerParty = "account" | "other-account" | "settlement" | "suspense" | "fee-revenue" | "correction";
export type TimelineLedgerEntry = {
    kind: "ledger-entry";
    dateTime: DateTime;
    debit: LedgerParty;
    credit: LedgerParty;
    amount: number;
    currency: Currency;
    entryType: StatementEntryType;
    balance: number | null;
};
export type TimelineEvent = {
    kind: "event";
    dateTime: DateTime;
    eventId: string;
    "type": string;
    sequence: number;
    status: string | null;
    statusReason: StatusReason | null;
};
export type WebhookDeliveryStatus = "pending" | "succeeded" | "failed";
export type TimelineWebhookDelivery = {
    kind: "webhook-delivery";
    dateTime: DateTime;
    webhookDeliveryId: string;
    webhookSubscriptionId: string;
    eventId: string;
    "type": string;
    status: WebhookDeliveryStatus;
    attemptCount: number;
    nextAttemptDateTime: DateTime | null;
    completedDateTime: DateTime | null;
};
export type TimelineEntry = ({
    kind: "provider-callback";
} & TimelineProviderCallback) | ({
    kind: "audit-entry";
} & TimelineAuditEntry) | ({
    kind: "requirement";
} & TimelineRequirement) | ({
    kind: "ledger-entry";
} & TimelineLedgerEntry) | ({
    kind: "event";
} & TimelineEvent) | ({
    kind: "webhook-delivery";
} & TimelineWebhookDelivery);
export type ResourceWait = {
    waitingFor: "authorization" | "compliance" | "date" | "balance" | "account" | "provider" | "provider-decision" | "retry" | "recall" | "caller" | "next-window" | "match" | "outgoing-transfer" | "account-holder" | "exchange" | "grant-expiry";
    waitingSinceDateTime: DateTime | null;
    waitingUntilDateTime: DateTime | null;
    rule: Text | null;
    releasedBy: Text[];
};
export type ProviderAttempt = {
    "number": number;
    state: "none" | "unresolved" | "not-found" | "queued" | "rejected" | "resolved" | "creation-in-progress" | "creation-failed" | "dependency-failed" | "completed-up-to-date" | "update-in-progress" | "completed-outdated";
    submittedDateTime: DateTime | null;
    nextLookUpDateTime: DateTime | null;
    retryDateTime: DateTime | null;
    rejectionCode: Text | null;
};
export type OmittedTimelineEntries = {
    kind: "provider-callback" | "audit-entry" | "requirement" | "ledger-entry" | "event" | "webhook-delivery";
    reason: "role" | "retention";
};
export type GetClientTimelineResponseData = {
    timelineEntries: TimelineEntry[];
    wait: ResourceWait | null;
    providerAttempt: ProviderAttempt | null;
    omittedTimelineEntries: OmittedTimelineEntries[];
};
export type GetClientTimelineResponse = {
    workflow: Workflow;
    data: GetClientTimelineResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type GetAccountTimelineResponseData = {
    timelineEntries: TimelineEntry[];
    wait: ResourceWait | null;
    providerAttempt: ProviderAttempt | null;
    omittedTimelineEntries: OmittedTimelineEntries[];
};
export type GetAccountTimelineResponse = {
    workflow: Workflow;
    data: GetAccountTimelineResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type GetIncomingTransferTimelineResponseData = {
    timelineEntries: TimelineEntry[];
    wait: ResourceWait | null;
    providerAttempt: ProviderAttempt | null;
    omittedTimelineEntries: OmittedTimelineEntries[];
};
export type GetIncomingTransferTimelineResponse = {
    workflow: Workflow;
    data: GetIncomingTransferTimelineResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type GetOutgoingTransferTimelineResponseData = {
    timelineEntries: TimelineEntry[];
    wait: ResourceWait | null;
    providerAttempt: ProviderAttempt | null;
    omittedTimelineEntries: OmittedTimelineEntries[];
};
export type GetOutgoingTransferTimelineResponse = {
    workflow: Workflow;
    data: GetOutgoingTransferTimelineResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type GetConsentTimelineResponseData = {
    timelineEntries: TimelineEntry[];
    wait: ResourceWait | null;
    providerAttempt: ProviderAttempt | null;
    omittedTimelineEntries: OmittedTimelineEntries[];
};
export type GetConsentTimelineResponse = {
    workflow: Workflow;
    data: GetConsentTimelineResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type ReceiveProviderCallbackRequest = {
    [key: string]: unknown;
};
export type WebhookModule = "incoming-transfers" | "outgoing-transfers" | "accounts" | "clients" | "open-banking-consents" | "users" | "beneficiaries";
export type WebhookType = "incoming-transfer-pending" | "incoming-transfer-compliance-in-review" | "incoming-transfer-completed" | "incoming-transfer-failed" | "outgoing-transfer-created" | "outgoing-transfer-compliance-in-review" | "outgoing-transfer-processing" | "outgoing-transfer-released" | "outgoing-transfer-completed" | "outgoing-transfer-cancelled" | "outgoing-transfer-failed" | "outgoing-transfer-returned" | "account-activated" | "account-inactivated" | "account-suspended" | "account-closed" | "account-declined" | "account-information-updated" | "connection-creation-instructed" | "connection-created" | "connection-creation-failed" | "connection-update-instructed" | "connection-updated" | "connection-update-failed" | "created" | "incoming-transfer-on-hold" | "outgoing-transfer-recall-rejected" | "status-changed" | "consent-requested" | "consent-approved" | "consent-authorised" | "consent-rejected" | "consent-revoked" | "consent-expired" | "consent-consumed" | "user-created" | "user-updated" | "beneficiary-created" | "beneficiary-updated" | "beneficiary-bank-account-created" | "beneficiary-bank-account-updated";
export type WebhookSubscriptionStatus = "active" | "paused" | "disabled";
export type WebhookSubscriptionInput = {
    url: Text;
    modules?: WebhookModule[] | null;
    types?: WebhookType[] | null;
    status?: WebhookSubscriptionStatus | null;
    description?: Text | null;
};
export type CreateWebhookSubscriptionRequestData = {
    webhookSubscription: WebhookSubscriptionInput;
};
export type CreateWebhookSubscriptionRequest = {
    workflow: DirectWorkflow;
    data: CreateWebhookSubscriptionRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type WebhookSubscriptionWithSecret = {
    id: string;
    url: Text;
    modules: WebhookModule[] | null;
    types: WebhookType[] | null;
    status: WebhookSubscriptionStatus;
    statusReason: ("gone" | "failing") | null;
    description: Text | null;
    createdDateTime: DateTime;
    secret: Text;
};
export type WebhookSubscriptionWithSecretResponseData = {
    webhookSubscription: WebhookSubscriptionWithSecret;
};
export type WebhookSubscriptionWithSecretResponse = {
    workflow: Workflow;
    data: WebhookSubscriptionWithSecretResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type WebhookSubscription = {
    id: string;
    url: Text;
    modules: WebhookModule[] | null;
    types: WebhookType[] | null;
    status: WebhookSubscriptionStatus;
    statusReason: ("gone" | "failing") | null;
    description: Text | null;
    createdDateTime: DateTime;
};
export type WebhookSubscriptionListResponseData = {
    webhookSubscriptions: WebhookSubscription[];
};
export type WebhookSubscriptionListResponse = {
    workflow: Workflow;
    data: WebhookSubscriptionListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type WebhookSubscriptionResponseData = {
    webhookSubscription: WebhookSubscription;
};
export type WebhookSubscriptionResponse = {
    workflow: Workflow;
    data: WebhookSubscriptionResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type WebhookSubscriptionChange = {
    url?: Text;
    modules?: WebhookModule[] | null;
    types?: WebhookType[] | null;
    status?: WebhookSubscriptionStatus;
    description?: Text | null;
};
export type UpdateWebhookSubscriptionRequestData = {
    webhookSubscription: WebhookSubscriptionChange;
};
export type UpdateWebhookSubscriptionRequest = {
    workflow: DirectWorkflow;
    data: UpdateWebhookSubscriptionRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type DeleteWebhookSubscriptionResponseData = {};
export type DeleteWebhookSubscriptionResponse = {
    workflow: Workflow;
    data: DeleteWebhookSubscriptionResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type RotateWebhookSubscriptionSecretRequestData = {};
export type RotateWebhookSubscriptionSecretRequest = {
    workflow: DirectWorkflow;
    data?: RotateWebhookSubscriptionSecretRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type PingWebhookSubscriptionRequestData = {};
export type PingWebhookSubscriptionRequest = {
    workflow: DirectWorkflow;
    data?: PingWebhookSubscriptionRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type WebhookDeliveryAttempt = {
    "number": number;
    attemptedDateTime: DateTime;
    durationMs: number;
    responseCode: number | null;
    responseBody: string | null;
    error: Text | null;
    explanation: Text | null;
};
export type WebhookDelivery = {
    id: string;
    webhookSubscriptionId: string;
    eventId: string;
    resourceId: string;
    "module": string;
    "type": string;
    status: WebhookDeliveryStatus;
    attemptCount: number;
    nextAttemptDateTime: DateTime | null;
    createdDateTime: DateTime;
    completedDateTime: DateTime | null;
    attempts: WebhookDeliveryAttempt[];
};
export type WebhookDeliveryResponseData = {
    webhookDelivery: WebhookDelivery;
};
export type WebhookDeliveryResponse = {
    workflow: Workflow;
    data: WebhookDeliveryResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type WebhookReplayInput = {
    "from": DateTime;
    to?: DateTime | null;
    types?: WebhookType[] | null;
};
export type ReplayWebhookSubscriptionRequestData = {
    webhookSubscription: WebhookReplayInput;
};
export type ReplayWebhookSubscriptionRequest = {
    workflow: DirectWorkflow;
    data: ReplayWebhookSubscriptionRequestData;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type ReplayWebhookSubscriptionResponseData = {
    webhookSubscription: WebhookSubscription;
    deliveryCount: number;
};
export type ReplayWebhookSubscriptionResponse = {
    workflow: Workflow;
    data: ReplayWebhookSubscriptionResponseData;
    connect: Connect;
    metadata: Metadata;
};
export type WebhookDeliveryListResponseData = {
    webhookDeliveries: WebhookDelivery[];
};
export type WebhookDeliveryListResponse = {
    workflow: Workflow;
    data: WebhookDeliveryListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type RetryWebhookDeliveryRequestData = {};
export type RetryWebhookDeliveryRequest = {
    workflow: DirectWorkflow;
    data?: RetryWebhookDeliveryRequestData | null;
    connect?: ConnectInput;
    metadata?: MetadataInput;
};
export type EventWebhook = {
    "module": WebhookModule;
    "type": string;
};
export type EventMetadata = {
    sequence: number;
    eventId: string;
    eventDateTime: DateTime;
};
export type Event = {
    position: number;
    resourceId: string;
    webhook: EventWebhook;
    data: {
        [key: string]: unknown;
    };
    connect: {
        [key: string]: unknown;
    };
    metadata: EventMetadata;
};
export type EventListResponseData = {
    events: Event[];
};
export type EventListResponse = {
    workflow: Workflow;
    data: EventListResponseData;
    connect: Connect;
    metadata: PagedMetadata;
};
export type IncomingTransferPendingEventWebhook = {
    "module": "incoming-transfers";
    "type": "incoming-transfer-pending";
};
export type IncomingTransferOfEvents = {
    id: string;
    clientId: string | null;
    accountId: string | null;
    transactionNumber: Text;
    /** The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters. */
    paymentReference: string;
    status: IncomingTransferStatus;
    statusReason: StatusReason | null;
    currency: Currency;
    amount: number;
    feeAmount: number;
    feeCurrency: Currency;
    totalAmount: number;
    scope: "internal" | "external";
    scheme: Text | null;
    outgoingTransferId: string | null;
    /** For returned money: the outgoing transfer that paid it. A payment that is returned in parts has one incoming transfer for each part. */
    returnedOutgoingTransferId: string | null;
    provisionedAccountCreditId: string | null;
    serviceProvider: Text;
    serviceProviderId: Text | null;
    serviceProviderReference: Text | null;
    senderInformation: Text | null;
    senderName: Text | null;
    transferDate: CalendarDate | null;
    senderAccount: PartyAccount | null;
    receiverAccount: PartyAccount | null;
};
export type PendingIncomingTransfer = IncomingTransferOfEvents & {
    status: "pending";
    transferDate: null;
};
export type IncomingTransferPendingEventData = {
    incomingTransfer: PendingIncomingTransfer;
    complianceCheck?: unknown;
};
export type IncomingTransferPendingEvent = {
    webhook: IncomingTransferPendingEventWebhook;
    data: IncomingTransferPendingEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type IncomingTransferComplianceInReviewEventWebhook = {
    "module": "incoming-transfers";
    "type": "incoming-transfer-compliance-in-review";
};
export type ProcedureResultInReview = {
    result: Text | null;
};
export type ComplianceCheckInReview = {
    status: "in-review";
    procedureResults: {
        [key: string]: ProcedureResultInReview;
    };
};
export type IncomingTransferComplianceInReviewEventData = {
    incomingTransfer: PendingIncomingTransfer;
    complianceCheck?: ComplianceCheckInReview;
};
export type IncomingTransferComplianceInReviewEvent = {
    webhook: IncomingTransferComplianceInReviewEventWebhook;
    data: IncomingTransferComplianceInReviewEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type IncomingTransferCompletedEventWebhook = {
    "module": "incoming-transfers";
    "type": "incoming-transfer-completed";
};
export type CompletedIncomingTransfer = IncomingTransferOfEvents & {
    status: "completed";
    transferDate: CalendarDate;
};
export type IncomingTransferCompletedEventData = {
    incomingTransfer: CompletedIncomingTransfer;
    complianceCheck?: unknown;
};
export type IncomingTransferCompletedEvent = {
    webhook: IncomingTransferCompletedEventWebhook;
    data: IncomingTransferCompletedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type IncomingTransferFailedEventWebhook = {
    "module": "incoming-transfers";
    "type": "incoming-transfer-failed";
};
export type FailedIncomingTransfer = IncomingTransferOfEvents & {
    status: "failed";
};
export type IncomingTransferFailedEventData = {
    incomingTransfer: FailedIncomingTransfer;
    complianceCheck?: unknown;
};
export type IncomingTransferFailedEvent = {
    webhook: IncomingTransferFailedEventWebhook;
    data: IncomingTransferFailedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type IncomingTransferOnHoldEventWebhook = {
    "module": "incoming-transfers";
    "type": "incoming-transfer-on-hold";
};
export type HeldIncomingTransfer = IncomingTransferOfEvents & {
    status: "on-hold";
};
export type IncomingTransferOnHoldEventData = {
    incomingTransfer: HeldIncomingTransfer;
    complianceCheck?: unknown;
};
export type IncomingTransferOnHoldEvent = {
    webhook: IncomingTransferOnHoldEventWebhook;
    data: IncomingTransferOnHoldEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferCreatedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-created";
};
export type OutgoingTransferOfEvents = {
    id: string;
    transactionNumber: Text;
    /** The transfer’s id without dashes. It identifies the payment in bank messages, for example as EndToEndId, which has at most 35 characters. */
    paymentReference: string;
    status: OutgoingTransferStatus;
    statusReason: StatusReason | null;
    clientId: string;
    transferDate: CalendarDate;
    originalTransferDate: CalendarDate;
    rollCount: number;
    cutOffDateTime: DateTime | null;
    currency: Currency;
    amount: number;
    feeCurrency: Currency;
    feeAmount: number;
    totalAmount: number;
    description: Text | null;
    transferReasonId: string | null;
    transferCustomReason: Text | null;
    scope: "internal" | "external";
    scheme: string | null;
    ownerType: "client";
    source: TransferSource;
    destination: TransferDestination;
    returned: boolean;
    incomingTransferId: string | null;
    serviceProviderId: Text | null;
    serviceProviderReference: Text | null;
    requirementConfiguration: RequirementConfiguration;
    beneficiary: OutgoingTransferBeneficiary | null;
    /** For a return to a payer: the incoming transfer whose money, all or a part, goes back. Such a transfer has no beneficiary’s bank account, and `beneficiary` is the payer. */
    returnedIncomingTransferId: string | null;
    returnReason: StatusReason | null;
};
export type PendingOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "pending";
};
export type OutgoingTransferCreatedEventData = {
    outgoingTransfer: PendingOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferCreatedEvent = {
    webhook: OutgoingTransferCreatedEventWebhook;
    data: OutgoingTransferCreatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferComplianceInReviewEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-compliance-in-review";
};
export type OutgoingTransferComplianceInReviewEventData = {
    outgoingTransfer: PendingOutgoingTransfer;
    complianceCheck?: ComplianceCheckInReview;
};
export type OutgoingTransferComplianceInReviewEvent = {
    webhook: OutgoingTransferComplianceInReviewEventWebhook;
    data: OutgoingTransferComplianceInReviewEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferProcessingEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-processing";
};
export type ProcessingOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "processing";
};
export type OutgoingTransferProcessingEventData = {
    outgoingTransfer: ProcessingOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferProcessingEvent = {
    webhook: OutgoingTransferProcessingEventWebhook;
    data: OutgoingTransferProcessingEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferReleasedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-released";
};
export type ReleasedOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "released";
};
export type OutgoingTransferReleasedEventData = {
    outgoingTransfer: ReleasedOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferReleasedEvent = {
    webhook: OutgoingTransferReleasedEventWebhook;
    data: OutgoingTransferReleasedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferCompletedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-completed";
};
export type CompletedOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "completed";
    returned: boolean;
};
export type OutgoingTransferCompletedEventData = {
    outgoingTransfer: CompletedOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferCompletedEvent = {
    webhook: OutgoingTransferCompletedEventWebhook;
    data: OutgoingTransferCompletedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferCancelledEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-cancelled";
};
export type CancelledOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "cancelled";
};
export type OutgoingTransferCancelledEventData = {
    outgoingTransfer: CancelledOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferCancelledEvent = {
    webhook: OutgoingTransferCancelledEventWebhook;
    data: OutgoingTransferCancelledEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferFailedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-failed";
};
export type FailedOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "failed";
};
export type OutgoingTransferFailedEventData = {
    outgoingTransfer: FailedOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferFailedEvent = {
    webhook: OutgoingTransferFailedEventWebhook;
    data: OutgoingTransferFailedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferReturnedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-returned";
};
export type ReturnedOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "completed";
    returned: true;
    incomingTransferId: string;
};
export type OutgoingTransferReturnedEventData = {
    outgoingTransfer: ReturnedOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferReturnedEvent = {
    webhook: OutgoingTransferReturnedEventWebhook;
    data: OutgoingTransferReturnedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type OutgoingTransferRecallRejectedEventWebhook = {
    "module": "outgoing-transfers";
    "type": "outgoing-transfer-recall-rejected";
};
export type RecallRejectedReason = StatusReason & {
    code: "recall.rejected";
};
export type RecallRejectedOutgoingTransfer = OutgoingTransferOfEvents & {
    id: string;
    transactionNumber: Text;
    status: "released" | "completed";
    statusReason: RecallRejectedReason;
};
export type OutgoingTransferRecallRejectedEventData = {
    outgoingTransfer: RecallRejectedOutgoingTransfer;
    complianceCheck?: unknown;
};
export type OutgoingTransferRecallRejectedEvent = {
    webhook: OutgoingTransferRecallRejectedEventWebhook;
    data: OutgoingTransferRecallRejectedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type AccountActivatedEventWebhook = {
    "module": "accounts";
    "type": "account-activated";
};
export type ActiveAccount = Account & {
    status: "active";
};
export type AccountActivatedEventData = {
    account: ActiveAccount;
};
export type AccountEventConnect = {
    connection?: Connection;
};
export type AccountActivatedEvent = {
    webhook: AccountActivatedEventWebhook;
    data: AccountActivatedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountInactivatedEventWebhook = {
    "module": "accounts";
    "type": "account-inactivated";
};
export type InactiveAccount = Account & {
    status: "inactive";
};
export type AccountInactivatedEventData = {
    account: InactiveAccount;
};
export type AccountInactivatedEvent = {
    webhook: AccountInactivatedEventWebhook;
    data: AccountInactivatedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountSuspendedEventWebhook = {
    "module": "accounts";
    "type": "account-suspended";
};
export type SuspendedAccount = Account & {
    status: "suspended";
};
export type AccountSuspendedEventData = {
    account: SuspendedAccount;
};
export type AccountSuspendedEvent = {
    webhook: AccountSuspendedEventWebhook;
    data: AccountSuspendedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountClosedEventWebhook = {
    "module": "accounts";
    "type": "account-closed";
};
export type ClosedAccount = Account & {
    status: "closed";
};
export type AccountClosedEventData = {
    account: ClosedAccount;
};
export type AccountClosedEvent = {
    webhook: AccountClosedEventWebhook;
    data: AccountClosedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountDeclinedEventWebhook = {
    "module": "accounts";
    "type": "account-declined";
};
export type DeclinedAccount = Account & {
    status: "declined";
    connection: null;
};
export type AccountDeclinedEventData = {
    account: DeclinedAccount;
};
export type AccountDeclinedEvent = {
    webhook: AccountDeclinedEventWebhook;
    data: AccountDeclinedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountInformationUpdatedEventWebhook = {
    "module": "accounts";
    "type": "account-information-updated";
};
export type AccountInformationUpdatedEventData = {
    account: Account;
};
export type AccountInformationUpdatedEvent = {
    webhook: AccountInformationUpdatedEventWebhook;
    data: AccountInformationUpdatedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionCreationInstructedEventWebhook = {
    "module": "accounts";
    "type": "connection-creation-instructed";
};
export type ConnectionInCreation = Connection & {
    state: "creation-in-progress";
    error: null;
};
export type AccountConnectionInCreation = Account & {
    connection: ConnectionInCreation;
};
export type AccountConnectionCreationInstructedEventData = {
    account: AccountConnectionInCreation;
};
export type AccountConnectionCreationInstructedEvent = {
    webhook: AccountConnectionCreationInstructedEventWebhook;
    data: AccountConnectionCreationInstructedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionCreatedEventWebhook = {
    "module": "accounts";
    "type": "connection-created";
};
export type ConnectionUpToDate = Connection & {
    state: "completed-up-to-date";
    error: null;
};
export type AccountConnectionUpToDate = Account & {
    connection: ConnectionUpToDate;
};
export type AccountConnectionCreatedEventData = {
    account: AccountConnectionUpToDate;
};
export type AccountConnectionCreatedEvent = {
    webhook: AccountConnectionCreatedEventWebhook;
    data: AccountConnectionCreatedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionCreationFailedEventWebhook = {
    "module": "accounts";
    "type": "connection-creation-failed";
};
export type ConnectionNotCreated = Connection & {
    state: "creation-failed" | "dependency-failed";
    error: ConnectionError;
};
export type AccountConnectionNotCreated = Account & {
    connection: ConnectionNotCreated;
};
export type AccountConnectionCreationFailedEventData = {
    account: AccountConnectionNotCreated;
};
export type AccountConnectionCreationFailedEvent = {
    webhook: AccountConnectionCreationFailedEventWebhook;
    data: AccountConnectionCreationFailedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionUpdateInstructedEventWebhook = {
    "module": "accounts";
    "type": "connection-update-instructed";
};
export type ConnectionInUpdate = Connection & {
    state: "update-in-progress";
    error: null;
};
export type AccountConnectionInUpdate = Account & {
    connection: ConnectionInUpdate;
};
export type AccountConnectionUpdateInstructedEventData = {
    account: AccountConnectionInUpdate;
};
export type AccountConnectionUpdateInstructedEvent = {
    webhook: AccountConnectionUpdateInstructedEventWebhook;
    data: AccountConnectionUpdateInstructedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionUpdatedEventWebhook = {
    "module": "accounts";
    "type": "connection-updated";
};
export type AccountConnectionUpdatedEventData = {
    account: AccountConnectionUpToDate;
};
export type AccountConnectionUpdatedEvent = {
    webhook: AccountConnectionUpdatedEventWebhook;
    data: AccountConnectionUpdatedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type AccountConnectionUpdateFailedEventWebhook = {
    "module": "accounts";
    "type": "connection-update-failed";
};
export type ConnectionOutdated = Connection & {
    state: "completed-outdated";
    error: ConnectionError;
};
export type AccountConnectionOutdated = Account & {
    connection: ConnectionOutdated;
};
export type AccountConnectionUpdateFailedEventData = {
    account: AccountConnectionOutdated;
};
export type AccountConnectionUpdateFailedEvent = {
    webhook: AccountConnectionUpdateFailedEventWebhook;
    data: AccountConnectionUpdateFailedEventData;
    connect: AccountEventConnect;
    metadata: EventMetadata;
};
export type ClientCreatedEventWebhook = {
    "module": "clients";
    "type": "created";
};
export type ClientCreatedEventData = {
    client: Client;
};
export type ClientCreatedEvent = {
    webhook: ClientCreatedEventWebhook;
    data: ClientCreatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ClientConnectionCreatedEventWebhook = {
    "module": "clients";
    "type": "connection-created";
};
export type ClientConnectionCreatedEventData = {
    client: Client;
};
export type ClientEventConnection = {
    id: string;
    serviceProvider: Text;
};
export type ClientEventConnect = {
    connection: ClientEventConnection;
};
export type ClientConnectionCreatedEvent = {
    webhook: ClientConnectionCreatedEventWebhook;
    data: ClientConnectionCreatedEventData;
    connect: ClientEventConnect;
    metadata: EventMetadata;
};
export type ClientStatusChangedEventWebhook = {
    "module": "clients";
    "type": "status-changed";
};
export type ClientStatusChangedEventData = {
    client: Client;
};
export type ClientStatusChangedEvent = {
    webhook: ClientStatusChangedEventWebhook;
    data: ClientStatusChangedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentRequestedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-requested";
};
export type RequestedConsent = Consent & {
    status: "awaiting-authorisation";
    userId: null;
    accounts: null;
    grantedDateTime: null;
    expiryDateTime: null;
};
export type ConsentRequestedEventData = {
    consent: RequestedConsent;
};
export type ConsentRequestedEvent = {
    webhook: ConsentRequestedEventWebhook;
    data: ConsentRequestedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentApprovedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-approved";
};
export type ApprovedConsent = Consent & {
    status: "awaiting-exchange";
    userId: string;
    accounts: string[];
    grantedDateTime: null;
    expiryDateTime: null;
};
export type ConsentApprovedEventData = {
    consent: ApprovedConsent;
};
export type ConsentApprovedEvent = {
    webhook: ConsentApprovedEventWebhook;
    data: ConsentApprovedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentAuthorisedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-authorised";
};
export type AuthorisedConsent = Consent & {
    status: "authorised";
    userId: string;
    accounts: string[];
    grantedDateTime: DateTime;
    expiryDateTime: DateTime;
};
export type ConsentAuthorisedEventData = {
    consent: AuthorisedConsent;
};
export type ConsentAuthorisedEvent = {
    webhook: ConsentAuthorisedEventWebhook;
    data: ConsentAuthorisedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentRejectedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-rejected";
};
export type RejectedConsent = Consent & {
    status: "rejected";
    userId: null;
    accounts: null;
    grantedDateTime: null;
    expiryDateTime: null;
};
export type ConsentRejectedEventData = {
    consent: RejectedConsent;
};
export type ConsentRejectedEvent = {
    webhook: ConsentRejectedEventWebhook;
    data: ConsentRejectedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentRevokedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-revoked";
};
export type RevokedConsent = Consent & {
    status: "revoked";
    userId: string;
    accounts: string[];
};
export type ConsentRevokedEventData = {
    consent: RevokedConsent;
};
export type ConsentRevokedEvent = {
    webhook: ConsentRevokedEventWebhook;
    data: ConsentRevokedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentExpiredEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-expired";
};
export type ExpiredConsent = Consent & {
    status: "expired";
};
export type ConsentExpiredEventData = {
    consent: ExpiredConsent;
};
export type ConsentExpiredEvent = {
    webhook: ConsentExpiredEventWebhook;
    data: ConsentExpiredEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type ConsentConsumedEventWebhook = {
    "module": "open-banking-consents";
    "type": "consent-consumed";
};
export type ConsumedConsent = Consent & {
    status: "consumed";
    userId: string;
    accounts: string[];
    grantedDateTime: DateTime;
    expiryDateTime: DateTime;
};
export type ConsentConsumedEventData = {
    consent: ConsumedConsent;
};
export type ConsentConsumedEvent = {
    webhook: ConsentConsumedEventWebhook;
    data: ConsentConsumedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type UserCreatedEventWebhook = {
    "module": "users";
    "type": "user-created";
};
export type UserCreatedEventData = {
    user: User;
};
export type UserCreatedEvent = {
    webhook: UserCreatedEventWebhook;
    data: UserCreatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type UserUpdatedEventWebhook = {
    "module": "users";
    "type": "user-updated";
};
export type UserUpdatedEventData = {
    user: User;
};
export type UserUpdatedEvent = {
    webhook: UserUpdatedEventWebhook;
    data: UserUpdatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type BeneficiaryCreatedEventWebhook = {
    "module": "beneficiaries";
    "type": "beneficiary-created";
};
export type BeneficiaryCreatedEventData = {
    beneficiary: Beneficiary;
};
export type BeneficiaryCreatedEvent = {
    webhook: BeneficiaryCreatedEventWebhook;
    data: BeneficiaryCreatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type BeneficiaryUpdatedEventWebhook = {
    "module": "beneficiaries";
    "type": "beneficiary-updated";
};
export type BeneficiaryUpdatedEventData = {
    beneficiary: Beneficiary;
};
export type BeneficiaryUpdatedEvent = {
    webhook: BeneficiaryUpdatedEventWebhook;
    data: BeneficiaryUpdatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type BeneficiaryBankAccountCreatedEventWebhook = {
    "module": "beneficiaries";
    "type": "beneficiary-bank-account-created";
};
export type BeneficiaryWithBankAccount = Beneficiary & {
    bankAccounts: BeneficiaryBankAccount[];
};
export type BeneficiaryBankAccountCreatedEventData = {
    beneficiary: BeneficiaryWithBankAccount;
};
export type BeneficiaryBankAccountCreatedEvent = {
    webhook: BeneficiaryBankAccountCreatedEventWebhook;
    data: BeneficiaryBankAccountCreatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type BeneficiaryBankAccountUpdatedEventWebhook = {
    "module": "beneficiaries";
    "type": "beneficiary-bank-account-updated";
};
export type BeneficiaryBankAccountUpdatedEventData = {
    beneficiary: BeneficiaryWithBankAccount;
};
export type BeneficiaryBankAccountUpdatedEvent = {
    webhook: BeneficiaryBankAccountUpdatedEventWebhook;
    data: BeneficiaryBankAccountUpdatedEventData;
    connect: Connect;
    metadata: EventMetadata;
};
export type PingEventWebhook = {
    "module": "webhook-subscriptions";
    "type": "ping";
};
export type PingEventData = {
    webhookSubscription: WebhookSubscription;
};
export type PingMetadata = {
    sequence: number;
    eventId: string;
    eventDateTime: DateTime;
};
export type PingEvent = {
    webhook: PingEventWebhook;
    data: PingEventData;
    connect: Connect;
    metadata: PingMetadata;
};
