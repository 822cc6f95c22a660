// Written from the OpenAPI document by
// UPDATE_DOCUMENTS=1 npm test -- test/openapi/client/client-source.test.ts

import type { Call, CallOptions, ListOptions, PostOptions, Send } from '../call.ts';
import type { List, SendList } from '../list.ts';
import type * as Types from './types.ts';

/** Every operation, in groups by path. */
export function operationsOf(send: Send, sendList: SendList) {
  return {
    clients: {
      /** Create a client: `POST /clients`, workflow `direct`. */
      create: (client: Types.ClientInput, options?: PostOptions & { workflow?: Omit<Types.CreateClientDirectRequest['workflow'], 'code' | 'dryRun'>; connect?: Types.CreateClientDirectRequest['connect']; metadata?: Types.CreateClientDirectRequest['metadata'] }): Call<Types.Client, Types.CreateClientResponse> =>
        send({ operation: 'createClient', method: 'POST', path: '/clients', code: 'direct', data: { client }, resource: 'client' }, options),
      /** Create a client: `POST /clients`, workflow `migration`. */
      migrate: (sourceId: Types.Text, options: PostOptions & { connect: Types.CreateClientMigrationRequest['connect']; metadata?: Types.CreateClientMigrationRequest['metadata'] }): Call<Types.Client, Types.CreateClientResponse> =>
        send({ operation: 'createClient', method: 'POST', path: '/clients', code: 'migration', data: { sourceId }, resource: 'client' }, options),
      /** List clients in order of creation: `GET /clients`. */
      list: (query?: { status?: Types.ClientStatus; clientNumber?: string; fullName?: Types.Text; email?: Types.Email; country?: Types.Country; identityType?: 'individual' | 'corporate' }, options?: ListOptions): List<Types.Client, Types.ClientListResponse> =>
        sendList({ operation: 'listClients', method: 'GET', path: '/clients', query, names: { status: 'data.client.status', clientNumber: 'data.client.clientNumber', fullName: 'data.client.fullName', email: 'data.client.email', country: 'data.client.country', identityType: 'data.client.identityType' }, resource: 'clients' }, options),
      /** Get a client: `GET /clients/{clientId}`. */
      get: (clientId: string, query?: { includeProfile?: 'true' | 'false'; include?: readonly (string)[] }, options?: CallOptions): Call<Types.Client, Types.ClientResponse> =>
        send({ operation: 'getClient', method: 'GET', path: '/clients/{clientId}', parameters: { clientId }, query, names: { includeProfile: 'metadata.includeProfile', include: 'metadata.include' }, resource: 'client' }, options),
      /** Change a client: `PATCH /clients/{clientId}`, workflow `direct`. */
      update: (clientId: string, client: Types.ClientChange, options?: CallOptions & { connect?: Types.UpdateClientRequest['connect']; metadata?: Types.UpdateClientRequest['metadata'] }): Call<Types.Client, Types.ClientResponse> =>
        send({ operation: 'updateClient', method: 'PATCH', path: '/clients/{clientId}', parameters: { clientId }, code: 'direct', data: { client }, resource: 'client' }, options),
      relations: {
        /** Relate individuals to a corporate client: `POST /clients/{clientId}/relations`, workflow `direct`. */
        create: (clientId: string, data: Types.CreateClientRelationsRequest['data'], options?: PostOptions & { connect?: Types.CreateClientRelationsRequest['connect']; metadata?: Types.CreateClientRelationsRequest['metadata'] }): Call<Types.CreateClientRelationsResponse['data'], Types.CreateClientRelationsResponse> =>
          send({ operation: 'createClientRelations', method: 'POST', path: '/clients/{clientId}/relations', parameters: { clientId }, code: 'direct', data }, options),
        /** List the relations of a client in order of creation: `GET /clients/{clientId}/relations`. */
        list: (clientId: string, options?: ListOptions): List<Types.ClientRelation, Types.ClientRelationListResponse> =>
          sendList({ operation: 'listClientRelations', method: 'GET', path: '/clients/{clientId}/relations', parameters: { clientId }, resource: 'clientRelations' }, options),
        /** Change a relation of a corporate client: `PATCH /clients/{clientId}/relations/{clientRelationId}`, workflow `direct`. */
        update: (clientId: string, clientRelationId: string, clientRelation: Types.ClientRelationChange, options?: CallOptions & { connect?: Types.UpdateClientRelationRequest['connect']; metadata?: Types.UpdateClientRelationRequest['metadata'] }): Call<Types.ClientRelation, Types.ClientRelationResponse> =>
          send({ operation: 'updateClientRelation', method: 'PATCH', path: '/clients/{clientId}/relations/{clientRelationId}', parameters: { clientId, clientRelationId }, code: 'direct', data: { clientRelation }, resource: 'clientRelation' }, options),
        /** End a relation of a corporate client: `DELETE /clients/{clientId}/relations/{clientRelationId}`. */
        delete: (clientId: string, clientRelationId: string, options?: CallOptions): Call<void, Types.DeleteClientRelationResponse> =>
          send({ operation: 'deleteClientRelation', method: 'DELETE', path: '/clients/{clientId}/relations/{clientRelationId}', parameters: { clientId, clientRelationId } }, options),
        /** Get a relation of a corporate client: `GET /clients/{clientId}/relations/{clientRelationId}`. */
        get: (clientId: string, clientRelationId: string, options?: CallOptions): Call<Types.ClientRelation, Types.ClientRelationResponse> =>
          send({ operation: 'getClientRelation', method: 'GET', path: '/clients/{clientId}/relations/{clientRelationId}', parameters: { clientId, clientRelationId }, resource: 'clientRelation' }, options),
      },
      timeline: {
        /** Get the timeline of a client: `GET /clients/{clientId}/timeline`. */
        get: (clientId: string, options?: ListOptions): List<Types.TimelineEntry, Types.GetClientTimelineResponse> =>
          sendList({ operation: 'getClientTimeline', method: 'GET', path: '/clients/{clientId}/timeline', parameters: { clientId }, resource: 'timelineEntries' }, options),
      },
    },
    users: {
      /** Create a user, or invite a person to become one: `POST /users`, workflow `human.external.direct`. */
      create: (user: Types.UserInput, options?: PostOptions & { data?: Omit<Types.CreateUserHumanExternalDirectRequest['data'], 'user'>; connect?: Types.CreateUserHumanExternalDirectRequest['connect']; metadata?: Types.CreateUserHumanExternalDirectRequest['metadata'] }): Call<Types.CreatedUser, Types.CreateUserResponse> =>
        send({ operation: 'createUser', method: 'POST', path: '/users', code: 'human.external.direct', data: { user }, resource: 'user' }, options),
      /** Create a user, or invite a person to become one: `POST /users`, workflow `human.external.invitation`. */
      invite: (data: Types.CreateUserHumanExternalInvitationRequest['data'], options?: PostOptions & { connect?: Types.CreateUserHumanExternalInvitationRequest['connect']; metadata?: Types.CreateUserHumanExternalInvitationRequest['metadata'] }): Call<Types.CreatedUser, Types.CreateUserResponse> =>
        send({ operation: 'createUser', method: 'POST', path: '/users', code: 'human.external.invitation', data, resource: 'user' }, options),
      /** List external users in order of creation: `GET /users`. */
      list: (query: { category: 'external'; email?: Types.Email }, options?: ListOptions): List<Types.User, Types.UserListResponse> =>
        sendList({ operation: 'listUsers', method: 'GET', path: '/users', query, names: { category: 'data.user.category', email: 'data.user.email' }, resource: 'users' }, options),
      /** Change a user: `PATCH /users/{userId}`, workflow `human.external.direct`. */
      update: (userId: string, user: Types.UserChange, options?: CallOptions & { connect?: Types.UpdateUserRequest['connect']; metadata?: Types.UpdateUserRequest['metadata'] }): Call<Types.User, Types.UserResponse> =>
        send({ operation: 'updateUser', method: 'PATCH', path: '/users/{userId}', parameters: { userId }, code: 'human.external.direct', data: { user }, resource: 'user' }, options),
      /** Get a user: `GET /users/{userId}`. */
      get: (userId: string, options?: CallOptions): Call<Types.User, Types.UserResponse> =>
        send({ operation: 'getUser', method: 'GET', path: '/users/{userId}', parameters: { userId }, resource: 'user' }, options),
      invitations: {
        /** List the invitations of an e-mail address in order of creation: `GET /users/{userEmail}/invitations`. */
        list: (userEmail: string, options?: ListOptions): List<Types.UserInvitation, Types.UserInvitationListResponse> =>
          sendList({ operation: 'listUserInvitations', method: 'GET', path: '/users/{userEmail}/invitations', parameters: { userEmail }, resource: 'userInvitations' }, options),
        /** Get an invitation: `GET /users/{userEmail}/invitations/{usersInvitationId}`. */
        get: (userEmail: string, usersInvitationId: string, options?: CallOptions): Call<Types.UserInvitation, Types.UserInvitationResponse> =>
          send({ operation: 'getUserInvitation', method: 'GET', path: '/users/{userEmail}/invitations/{usersInvitationId}', parameters: { userEmail, usersInvitationId }, resource: 'userInvitation' }, options),
        /** Cancel an invitation: `PATCH /users/{userEmail}/invitations/{usersInvitationId}`, workflow `direct`. */
        update: (userEmail: string, usersInvitationId: string, userInvitation: Types.UserInvitationChange, options?: CallOptions & { connect?: Types.UpdateUserInvitationRequest['connect']; metadata?: Types.UpdateUserInvitationRequest['metadata'] }): Call<Types.UserInvitation, Types.UserInvitationResponse> =>
          send({ operation: 'updateUserInvitation', method: 'PATCH', path: '/users/{userEmail}/invitations/{usersInvitationId}', parameters: { userEmail, usersInvitationId }, code: 'direct', data: { userInvitation }, resource: 'userInvitation' }, options),
      },
      clientRelations: {
        /** Let a user act for clients: `POST /users/{userId}/client-relations`, workflow `direct`. */
        create: (userId: string, userClientRelations: Types.CreateUserClientRelationsRequest['data']['userClientRelations'], options?: PostOptions & { connect?: Types.CreateUserClientRelationsRequest['connect']; metadata?: Types.CreateUserClientRelationsRequest['metadata'] }): Call<Types.UserClientRelation[], Types.CreateUserClientRelationsResponse> =>
          send({ operation: 'createUserClientRelations', method: 'POST', path: '/users/{userId}/client-relations', parameters: { userId }, code: 'direct', data: { userClientRelations }, resource: 'userClientRelations' }, options),
        /** Find the relation of a user to a client: `GET /users/{userId}/client-relations`. */
        list: (userId: string, query: { clientId: string; status?: Types.UserClientRelationStatus }, options?: ListOptions): List<Types.UserClientRelation, Types.UserClientRelationListResponse> =>
          sendList({ operation: 'listUserClientRelations', method: 'GET', path: '/users/{userId}/client-relations', parameters: { userId }, query, names: { clientId: 'data.userClientRelation.clientId', status: 'data.userClientRelation.status' }, resource: 'userClientRelations' }, options),
        /** Get a relation of a user to a client: `GET /users/{userId}/client-relations/{id}`. */
        get: (userId: string, id: string, options?: CallOptions): Call<Types.UserClientRelation, Types.UserClientRelationResponse> =>
          send({ operation: 'getUserClientRelation', method: 'GET', path: '/users/{userId}/client-relations/{id}', parameters: { userId, id }, resource: 'userClientRelation' }, options),
        /** Revoke or restore a relation of a user to a client: `PATCH /users/{userId}/client-relations/{id}`, workflow `direct`. */
        update: (userId: string, id: string, userClientRelation: Types.UserClientRelationChange, options?: CallOptions & { connect?: Types.UpdateUserClientRelationRequest['connect']; metadata?: Types.UpdateUserClientRelationRequest['metadata'] }): Call<Types.UserClientRelation, Types.UserClientRelationResponse> =>
          send({ operation: 'updateUserClientRelation', method: 'PATCH', path: '/users/{userId}/client-relations/{id}', parameters: { userId, id }, code: 'direct', data: { userClientRelation }, resource: 'userClientRelation' }, options),
      },
      /** E-mail a user a link for setting a new password: `POST /users/{userId}/password-reset`, workflow `direct`. */
      passwordReset: (userId: string, options?: PostOptions & { connect?: Types.ResetUserPasswordRequest['connect']; metadata?: Types.ResetUserPasswordRequest['metadata'] }): Call<Types.PasswordReset, Types.PasswordResetResponse> =>
        send({ operation: 'resetUserPassword', method: 'POST', path: '/users/{userId}/password-reset', parameters: { userId }, code: 'direct', data: {}, resource: 'passwordReset' }, options),
    },
    userAuthentications: {
      /** Check the e-mail address and the password of a user: `POST /user-authentications`, workflow `password`. */
      authenticate: (data: Types.AuthenticateUserRequest['data'], options?: PostOptions & { connect?: Types.AuthenticateUserRequest['connect']; metadata?: Types.AuthenticateUserRequest['metadata'] }): Call<Types.User, Types.AuthenticateUserResponse> =>
        send({ operation: 'authenticateUser', method: 'POST', path: '/user-authentications', code: 'password', data, resource: 'user' }, options),
    },
    beneficiaries: {
      /** Create a beneficiary with its bank accounts: `POST /beneficiaries`, workflow `direct`. */
      create: (beneficiary: Types.BeneficiaryInput, options?: PostOptions & { connect?: Types.CreateBeneficiaryDirectRequest['connect']; metadata?: Types.CreateBeneficiaryDirectRequest['metadata'] }): Call<Types.CreatedBeneficiary, Types.CreateBeneficiaryResponse> =>
        send({ operation: 'createBeneficiary', method: 'POST', path: '/beneficiaries', code: 'direct', data: { beneficiary }, resource: 'beneficiary' }, options),
      /** Create a beneficiary with its bank accounts: `POST /beneficiaries`, workflow `migration`. */
      migrate: (data: Types.CreateBeneficiaryMigrationRequest['data'], options: PostOptions & { connect: Types.CreateBeneficiaryMigrationRequest['connect']; metadata?: Types.CreateBeneficiaryMigrationRequest['metadata'] }): Call<Types.CreatedBeneficiary, Types.CreateBeneficiaryResponse> =>
        send({ operation: 'createBeneficiary', method: 'POST', path: '/beneficiaries', code: 'migration', data, resource: 'beneficiary' }, options),
      /** List beneficiaries in order of creation: `GET /beneficiaries`. */
      list: (query?: { clientId?: string; country?: Types.Country; type?: 'individual' | 'corporate'; include?: readonly (string)[] }, options?: ListOptions): List<Types.Beneficiary, Types.BeneficiaryListResponse> =>
        sendList({ operation: 'listBeneficiaries', method: 'GET', path: '/beneficiaries', query, names: { clientId: 'data.beneficiary.clientId', country: 'data.beneficiary.country', type: 'data.beneficiary.type', include: 'metadata.include' }, resource: 'beneficiaries' }, options),
      /** Get a beneficiary: `GET /beneficiaries/{beneficiaryId}`. */
      get: (beneficiaryId: string, query?: { include?: readonly (string)[] }, options?: CallOptions): Call<Types.Beneficiary, Types.BeneficiaryResponse> =>
        send({ operation: 'getBeneficiary', method: 'GET', path: '/beneficiaries/{beneficiaryId}', parameters: { beneficiaryId }, query, names: { include: 'metadata.include' }, resource: 'beneficiary' }, options),
      /** Change a beneficiary: `PATCH /beneficiaries/{beneficiaryId}`, workflow `direct`. */
      update: (beneficiaryId: string, data: Types.UpdateBeneficiaryRequest['data'], options?: CallOptions & { connect?: Types.UpdateBeneficiaryRequest['connect']; metadata?: Types.UpdateBeneficiaryRequest['metadata'] }): Call<Types.Beneficiary, Types.BeneficiaryResponse> =>
        send({ operation: 'updateBeneficiary', method: 'PATCH', path: '/beneficiaries/{beneficiaryId}', parameters: { beneficiaryId }, code: 'direct', data, resource: 'beneficiary' }, options),
      bankAccounts: {
        /** Add a bank account to a beneficiary: `POST /beneficiaries/{beneficiaryId}/bank-accounts`, workflow `direct`. */
        create: (beneficiaryId: string, beneficiaryBankAccount: Types.BeneficiaryBankAccountInput, options?: PostOptions & { connect?: Types.CreateBeneficiaryBankAccountRequest['connect']; metadata?: Types.CreateBeneficiaryBankAccountRequest['metadata'] }): Call<Types.BeneficiaryBankAccount, Types.BeneficiaryBankAccountResponse> =>
          send({ operation: 'createBeneficiaryBankAccount', method: 'POST', path: '/beneficiaries/{beneficiaryId}/bank-accounts', parameters: { beneficiaryId }, code: 'direct', data: { beneficiaryBankAccount }, resource: 'beneficiaryBankAccount' }, options),
        /** List the bank accounts of a beneficiary in order of creation: `GET /beneficiaries/{beneficiaryId}/bank-accounts`. */
        list: (beneficiaryId: string, query?: { country?: Types.Country; currency?: Types.Currency; iban?: Types.Text; accountNumber?: Types.Text; routingCodeKey?: string; routingCodeValue?: Types.Text }, options?: ListOptions): List<Types.BeneficiaryBankAccount, Types.BeneficiaryBankAccountListResponse> =>
          sendList({ operation: 'listBeneficiaryBankAccounts', method: 'GET', path: '/beneficiaries/{beneficiaryId}/bank-accounts', parameters: { beneficiaryId }, query, names: { country: 'data.beneficiaryBankAccount.country', currency: 'data.beneficiaryBankAccount.currency', iban: 'data.beneficiaryBankAccount.iban', accountNumber: 'data.beneficiaryBankAccount.accountNumber', routingCodeKey: 'data.beneficiaryBankAccount.routingCodeKey', routingCodeValue: 'data.beneficiaryBankAccount.routingCodeValue' }, resource: 'beneficiaryBankAccounts' }, options),
        /** Change a bank account of a beneficiary: `PATCH /beneficiaries/{beneficiaryId}/bank-accounts/{id}`, workflow `direct`. */
        update: (beneficiaryId: string, id: string, beneficiaryBankAccount: Types.BeneficiaryBankAccountChange, options?: CallOptions & { connect?: Types.UpdateBeneficiaryBankAccountRequest['connect']; metadata?: Types.UpdateBeneficiaryBankAccountRequest['metadata'] }): Call<Types.BeneficiaryBankAccount, Types.BeneficiaryBankAccountResponse> =>
          send({ operation: 'updateBeneficiaryBankAccount', method: 'PATCH', path: '/beneficiaries/{beneficiaryId}/bank-accounts/{id}', parameters: { beneficiaryId, id }, code: 'direct', data: { beneficiaryBankAccount }, resource: 'beneficiaryBankAccount' }, options),
        /** Get a bank account of a beneficiary: `GET /beneficiaries/{beneficiaryId}/bank-accounts/{id}`. */
        get: (beneficiaryId: string, id: string, options?: CallOptions): Call<Types.BeneficiaryBankAccount, Types.BeneficiaryBankAccountResponse> =>
          send({ operation: 'getBeneficiaryBankAccount', method: 'GET', path: '/beneficiaries/{beneficiaryId}/bank-accounts/{id}', parameters: { beneficiaryId, id }, resource: 'beneficiaryBankAccount' }, options),
      },
    },
    beneficiaryBankAccountRequirements: {
      /** List the required fields of a bank account by currency and country: `GET /beneficiary-bank-account-requirements`. */
      get: (query: { currency: Types.Currency; country: Types.Country }, options?: CallOptions): Call<Types.BeneficiaryBankAccountRequirement, Types.BeneficiaryBankAccountRequirementResponse> =>
        send({ operation: 'getBeneficiaryBankAccountRequirement', method: 'GET', path: '/beneficiary-bank-account-requirements', query, names: { currency: 'data.beneficiaryBankAccountRequirement.currency', country: 'data.beneficiaryBankAccountRequirement.country' }, resource: 'beneficiaryBankAccountRequirement' }, options),
    },
    beneficiaryVerifications: {
      /** Compare a beneficiary’s name with the holder of a bank account: `POST /beneficiary-verifications`, workflow `client.pay-uk.cop`. */
      create: (beneficiary: Types.BeneficiaryVerificationInput, options?: PostOptions & { connect?: Types.CreateBeneficiaryVerificationClientPayUkCopRequest['connect']; metadata?: Types.CreateBeneficiaryVerificationClientPayUkCopRequest['metadata'] }): Call<Types.BeneficiaryVerification, Types.BeneficiaryVerificationResponse> =>
        send({ operation: 'createBeneficiaryVerification', method: 'POST', path: '/beneficiary-verifications', code: 'client.pay-uk.cop', data: { beneficiary }, resource: 'beneficiaryVerification' }, options),
      /** Compare a beneficiary’s name with the holder of a bank account: `POST /beneficiary-verifications`, workflow `client.eu-vop.cop`. */
      createByIban: (beneficiary: Types.IbanBeneficiaryVerificationInput, options?: PostOptions & { connect?: Types.CreateBeneficiaryVerificationClientEuVopCopRequest['connect']; metadata?: Types.CreateBeneficiaryVerificationClientEuVopCopRequest['metadata'] }): Call<Types.BeneficiaryVerification, Types.BeneficiaryVerificationResponse> =>
        send({ operation: 'createBeneficiaryVerification', method: 'POST', path: '/beneficiary-verifications', code: 'client.eu-vop.cop', data: { beneficiary }, resource: 'beneficiaryVerification' }, options),
    },
    accounts: {
      /** Open an account: `POST /accounts`, workflow `client.issuing`. */
      create: (account: Types.AccountInput, options?: PostOptions & { connect?: Types.CreateAccountClientIssuingRequest['connect']; metadata?: Types.CreateAccountClientIssuingRequest['metadata'] }): Call<Types.Account, Types.CreateAccountResponse> =>
        send({ operation: 'createAccount', method: 'POST', path: '/accounts', code: 'client.issuing', data: { account }, resource: 'account' }, options),
      /** Open an account: `POST /accounts`, workflow `client.migration`. */
      migrate: (data: Types.CreateAccountClientMigrationRequest['data'], options: PostOptions & { connect: Types.CreateAccountClientMigrationRequest['connect']; metadata?: Types.CreateAccountClientMigrationRequest['metadata'] }): Call<Types.Account, Types.CreateAccountResponse> =>
        send({ operation: 'createAccount', method: 'POST', path: '/accounts', code: 'client.migration', data, resource: 'account' }, options),
      /** Open an account: `POST /accounts`, workflow `client.sub-account`. */
      createSubAccount: (account: Types.SubAccountInput, options?: PostOptions & { connect?: Types.CreateAccountClientSubAccountRequest['connect']; metadata?: Types.CreateAccountClientSubAccountRequest['metadata'] }): Call<Types.Account, Types.CreateAccountResponse> =>
        send({ operation: 'createAccount', method: 'POST', path: '/accounts', code: 'client.sub-account', data: { account }, resource: 'account' }, options),
      /** List accounts in order of creation: `GET /accounts`. */
      list: (query?: { clientId?: string; status?: Types.AccountStatus; currency?: Types.Currency; alias?: Types.Text; routingCodeKey?: string; routingCodeValue?: Types.Text; iban?: Types.Text; accountNumber?: Types.Text; ledgerNumber?: string; availableBalanceFrom?: string; availableBalanceTo?: string; serviceProvider?: Types.Text; accountHolderName?: Types.Text; mainAccountId?: string; userId?: string }, options?: ListOptions): List<Types.Account, Types.AccountListResponse> =>
        sendList({ operation: 'listAccounts', method: 'GET', path: '/accounts', query, names: { clientId: 'data.account.clientId', status: 'data.account.status', currency: 'data.account.currency', alias: 'data.account.alias', routingCodeKey: 'data.account.routingCodeKey', routingCodeValue: 'data.account.routingCodeValue', iban: 'data.account.iban', accountNumber: 'data.account.accountNumber', ledgerNumber: 'data.account.ledgerNumber', availableBalanceFrom: 'data.account.availableBalanceFrom', availableBalanceTo: 'data.account.availableBalanceTo', serviceProvider: 'data.account.serviceProvider', accountHolderName: 'data.account.accountHolderName', mainAccountId: 'data.account.mainAccountId', userId: 'data.account.userId' }, resource: 'accounts' }, options),
      /** Rename or close an account; report the result of a plug-in account: `PATCH /accounts/{accountId}`, workflow `client.direct`. */
      update: (accountId: string, account: Types.AccountChange, options?: CallOptions & { connect?: Types.UpdateAccountRequest['connect']; metadata?: Types.UpdateAccountRequest['metadata'] }): Call<Types.Account, Types.AccountResponse> =>
        send({ operation: 'updateAccount', method: 'PATCH', path: '/accounts/{accountId}', parameters: { accountId }, code: 'client.direct', data: { account }, resource: 'account' }, options),
      /** Get an account: `GET /accounts/{accountId}`. */
      get: (accountId: string, query?: { include?: readonly (string)[]; expand?: readonly (string)[] }, options?: CallOptions): Call<Types.Account, Types.GetAccountResponse> =>
        send({ operation: 'getAccount', method: 'GET', path: '/accounts/{accountId}', parameters: { accountId }, query, names: { include: 'metadata.include', expand: 'metadata.expand' }, resource: 'account' }, options),
      depositInformation: {
        /** Get the details for paying into an account: `GET /accounts/{id}/deposit-information`. */
        get: (id: string, options?: CallOptions): Call<Types.GetDepositInformationResponse['data']['depositInformation'], Types.GetDepositInformationResponse> =>
          send({ operation: 'getDepositInformation', method: 'GET', path: '/accounts/{id}/deposit-information', parameters: { id }, resource: 'depositInformation' }, options),
      },
      balanceAdjustments: {
        /** Correct or synchronize a balance: `POST /accounts/{id}/balance-adjustments`, workflow `correction`. */
        correct: (id: string, balanceAdjustment: Types.BalanceCorrectionInput, options: PostOptions & { workflow: Omit<Types.CreateBalanceAdjustmentCorrectionRequest['workflow'], 'code' | 'dryRun'>; connect?: Types.CreateBalanceAdjustmentCorrectionRequest['connect']; metadata?: Types.CreateBalanceAdjustmentCorrectionRequest['metadata'] }): Call<Types.BalanceAdjustment, Types.BalanceAdjustmentResponse> =>
          send({ operation: 'createBalanceAdjustment', method: 'POST', path: '/accounts/{id}/balance-adjustments', parameters: { id }, code: 'correction', data: { balanceAdjustment }, resource: 'balanceAdjustment' }, options),
        /** Correct or synchronize a balance: `POST /accounts/{id}/balance-adjustments`, workflow `synchronization`. */
        synchronize: (id: string, balanceAdjustment: Types.BalanceSynchronizationInput, options: PostOptions & { workflow: Omit<Types.CreateBalanceAdjustmentSynchronizationRequest['workflow'], 'code' | 'dryRun'>; connect?: Types.CreateBalanceAdjustmentSynchronizationRequest['connect']; metadata?: Types.CreateBalanceAdjustmentSynchronizationRequest['metadata'] }): Call<Types.BalanceAdjustment, Types.BalanceAdjustmentResponse> =>
          send({ operation: 'createBalanceAdjustment', method: 'POST', path: '/accounts/{id}/balance-adjustments', parameters: { id }, code: 'synchronization', data: { balanceAdjustment }, resource: 'balanceAdjustment' }, options),
      },
      accountStatements: {
        /** Get an account's statement: `GET /accounts/{accountId}/account-statements`. */
        list: (accountId: string, query?: { transactionNumber?: string; entryDateTimeFrom?: Types.DateTime; entryDateTimeTo?: Types.DateTime }, options?: ListOptions): List<Types.AccountStatement, Types.AccountStatementListResponse> =>
          sendList({ operation: 'listAccountStatements', method: 'GET', path: '/accounts/{accountId}/account-statements', parameters: { accountId }, query, names: { transactionNumber: 'data.accountStatement.transactionNumber', entryDateTimeFrom: 'data.accountStatement.entryDateTimeFrom', entryDateTimeTo: 'data.accountStatement.entryDateTimeTo' }, resource: 'accountStatements' }, options),
        /** Export an account's statement as a file: `GET /accounts/{accountId}/account-statements/export`. */
        export: (accountId: string, query: { format: 'csv' | 'camt.053'; entryDateTimeFrom?: Types.DateTime; entryDateTimeTo?: Types.DateTime }, options?: CallOptions): Call<string, string> =>
          send({ operation: 'exportAccountStatements', method: 'GET', path: '/accounts/{accountId}/account-statements/export', parameters: { accountId }, query, names: { format: 'format', entryDateTimeFrom: 'data.accountStatement.entryDateTimeFrom', entryDateTimeTo: 'data.accountStatement.entryDateTimeTo' } }, options),
      },
      balances: {
        /** Get an account's balance at an instant: `GET /accounts/{accountId}/balances`. */
        get: (accountId: string, query: { at: Types.DateTime }, options?: CallOptions): Call<Types.Balance, Types.BalanceResponse> =>
          send({ operation: 'getAccountBalance', method: 'GET', path: '/accounts/{accountId}/balances', parameters: { accountId }, query, names: { at: 'data.balance.at' }, resource: 'balance' }, options),
      },
      outgoingTransferSchemes: {
        /** List the schemes that can pay from an account to a country: `GET /accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}`. */
        list: (accountId: string, destinationCountry: string, options?: CallOptions): Call<Types.ListOutgoingTransferSchemesResponse['data']['transferSchemes'][number][], Types.ListOutgoingTransferSchemesResponse> =>
          send({ operation: 'listOutgoingTransferSchemes', method: 'GET', path: '/accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}', parameters: { accountId, destinationCountry }, resource: 'transferSchemes' }, options),
      },
      transferReasons: {
        /** List the reasons for transfers from an account to a country: `GET /accounts/{accountId}/transfer-reasons/{country}`. */
        list: (accountId: string, country: string, options?: CallOptions): Call<Types.TransferReason[], Types.ListAccountTransferReasonsResponse> =>
          send({ operation: 'listAccountTransferReasons', method: 'GET', path: '/accounts/{accountId}/transfer-reasons/{country}', parameters: { accountId, country }, resource: 'transferReasons' }, options),
      },
      outgoingTransferDateMetadata: {
        /** Get the dates on which a transfer can be released: `GET /accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}`. */
        get: (accountId: string, transferScope: string, transferScheme: string, options?: CallOptions): Call<Types.GetOutgoingTransferDateMetadataResponse['data'], Types.GetOutgoingTransferDateMetadataResponse> =>
          send({ operation: 'getOutgoingTransferDateMetadata', method: 'GET', path: '/accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}', parameters: { accountId, transferScope, transferScheme } }, options),
      },
      timeline: {
        /** Get the timeline of an account: `GET /accounts/{accountId}/timeline`. */
        get: (accountId: string, options?: ListOptions): List<Types.TimelineEntry, Types.GetAccountTimelineResponse> =>
          sendList({ operation: 'getAccountTimeline', method: 'GET', path: '/accounts/{accountId}/timeline', parameters: { accountId }, resource: 'timelineEntries' }, options),
      },
    },
    provisionedAccountCredits: {
      /** Report money that arrived on a plug-in account: `POST /provisioned-account-credits`, workflow `client.direct`. */
      create: (provisionedAccountCredit: Types.ProvisionedAccountCreditInput, options?: PostOptions & { connect?: Types.CreateProvisionedAccountCreditRequest['connect']; metadata?: Types.CreateProvisionedAccountCreditRequest['metadata'] }): Call<Types.ProvisionedAccountCredit, Types.ProvisionedAccountCreditResponse> =>
        send({ operation: 'createProvisionedAccountCredit', method: 'POST', path: '/provisioned-account-credits', code: 'client.direct', data: { provisionedAccountCredit }, resource: 'provisionedAccountCredit' }, options),
      /** List provisioned account credits in order of creation: `GET /provisioned-account-credits`. */
      list: (query?: { accountId?: string; currency?: Types.Currency; amountFrom?: string; amountTo?: string }, options?: ListOptions): List<Types.ProvisionedAccountCredit, Types.ProvisionedAccountCreditListResponse> =>
        sendList({ operation: 'listProvisionedAccountCredits', method: 'GET', path: '/provisioned-account-credits', query, names: { accountId: 'data.provisionedAccountCredit.accountId', currency: 'data.provisionedAccountCredit.currency', amountFrom: 'data.provisionedAccountCredit.amountFrom', amountTo: 'data.provisionedAccountCredit.amountTo' }, resource: 'provisionedAccountCredits' }, options),
      /** Get a provisioned account credit: `GET /provisioned-account-credits/{id}`. */
      get: (id: string, options?: CallOptions): Call<Types.ProvisionedAccountCredit, Types.ProvisionedAccountCreditResponse> =>
        send({ operation: 'getProvisionedAccountCredit', method: 'GET', path: '/provisioned-account-credits/{id}', parameters: { id }, resource: 'provisionedAccountCredit' }, options),
    },
    incomingTransfers: {
      /** Get an incoming transfer: `GET /incoming-transfers/{id}`. */
      get: (id: string, options?: CallOptions): Call<Types.IncomingTransfer, Types.IncomingTransferResponse> =>
        send({ operation: 'getIncomingTransfer', method: 'GET', path: '/incoming-transfers/{id}', parameters: { id }, resource: 'incomingTransfer' }, options),
      /** List incoming transfers in order of creation: `GET /incoming-transfers`. */
      list: (query?: { status?: Types.IncomingTransferStatus; waitingFor?: Types.IncomingTransferWait; transactionNumber?: string; paymentReference?: string; amountFrom?: string; amountTo?: string; currency?: Types.Currency; serviceProvider?: Types.Text; clientId?: string; accountId?: string; senderInformation?: Types.Text; senderName?: Types.Text; serviceProviderId?: Types.Text; serviceProviderReference?: Types.Text; transferDateFrom?: Types.CalendarDate; transferDateTo?: Types.CalendarDate }, options?: ListOptions): List<Types.IncomingTransfer, Types.IncomingTransferListResponse> =>
        sendList({ operation: 'listIncomingTransfers', method: 'GET', path: '/incoming-transfers', query, names: { status: 'data.incomingTransfer.status', waitingFor: 'data.incomingTransfer.waitingFor', transactionNumber: 'data.incomingTransfer.transactionNumber', paymentReference: 'data.incomingTransfer.paymentReference', amountFrom: 'data.incomingTransfer.amountFrom', amountTo: 'data.incomingTransfer.amountTo', currency: 'data.incomingTransfer.currency', serviceProvider: 'data.incomingTransfer.serviceProvider', clientId: 'data.incomingTransfer.clientId', accountId: 'data.incomingTransfer.accountId', senderInformation: 'data.incomingTransfer.senderInformation', senderName: 'data.incomingTransfer.senderName', serviceProviderId: 'data.incomingTransfer.serviceProviderId', serviceProviderReference: 'data.incomingTransfer.serviceProviderReference', transferDateFrom: 'data.incomingTransfer.transferDateFrom', transferDateTo: 'data.incomingTransfer.transferDateTo' }, resource: 'incomingTransfers' }, options),
      /** Assign held money to an account: `POST /incoming-transfers/{id}/assign`, workflow `direct`. */
      assign: (id: string, incomingTransfer: Types.IncomingTransferAssignmentInput, options?: PostOptions & { connect?: Types.AssignIncomingTransferRequest['connect']; metadata?: Types.AssignIncomingTransferRequest['metadata'] }): Call<Types.IncomingTransfer, Types.IncomingTransferResponse> =>
        send({ operation: 'assignIncomingTransfer', method: 'POST', path: '/incoming-transfers/{id}/assign', parameters: { id }, code: 'direct', data: { incomingTransfer }, resource: 'incomingTransfer' }, options),
      /** Return money to its payer: `POST /incoming-transfers/{id}/return`, workflow `direct`. */
      return: (id: string, incomingTransfer?: NonNullable<Types.ReturnIncomingTransferRequest['data']>['incomingTransfer'], options?: PostOptions & { connect?: Types.ReturnIncomingTransferRequest['connect']; metadata?: Types.ReturnIncomingTransferRequest['metadata'] }): Call<Types.IncomingTransfer, Types.IncomingTransferResponse> =>
        send({ operation: 'returnIncomingTransfer', method: 'POST', path: '/incoming-transfers/{id}/return', parameters: { id }, code: 'direct', data: { incomingTransfer }, resource: 'incomingTransfer' }, options),
      complianceCheck: {
        /** Get the compliance check of a transfer: `GET /incoming-transfers/{id}/compliance-check`. */
        get: (id: string, options?: CallOptions): Call<Types.ComplianceCheck, Types.ComplianceCheckResponse> =>
          send({ operation: 'getIncomingTransferComplianceCheck', method: 'GET', path: '/incoming-transfers/{id}/compliance-check', parameters: { id }, resource: 'complianceCheck' }, options),
        /** Record a result of the compliance check: `PATCH /incoming-transfers/{id}/compliance-check`, workflow `direct`. */
        update: (id: string, complianceCheck: Types.ComplianceDecisionChange, options?: CallOptions & { connect?: Types.UpdateIncomingTransferComplianceCheckRequest['connect']; metadata?: Types.UpdateIncomingTransferComplianceCheckRequest['metadata'] }): Call<Types.ComplianceCheck, Types.ComplianceCheckResponse> =>
          send({ operation: 'updateIncomingTransferComplianceCheck', method: 'PATCH', path: '/incoming-transfers/{id}/compliance-check', parameters: { id }, code: 'direct', data: { complianceCheck }, resource: 'complianceCheck' }, options),
      },
      timeline: {
        /** Get the timeline of an incoming transfer: `GET /incoming-transfers/{id}/timeline`. */
        get: (id: string, options?: ListOptions): List<Types.TimelineEntry, Types.GetIncomingTransferTimelineResponse> =>
          sendList({ operation: 'getIncomingTransferTimeline', method: 'GET', path: '/incoming-transfers/{id}/timeline', parameters: { id }, resource: 'timelineEntries' }, options),
      },
    },
    transferReasons: {
      /** List the reasons for transfers to a country: `GET /transfer-reasons/{country}`. */
      list: (country: string, options?: CallOptions): Call<Types.TransferReason[], Types.ListTransferReasonsResponse> =>
        send({ operation: 'listTransferReasons', method: 'GET', path: '/transfer-reasons/{country}', parameters: { country }, resource: 'transferReasons' }, options),
    },
    outgoingTransfers: {
      /** Send money: `POST /outgoing-transfers`, workflow `client.direct`. */
      create: (outgoingTransfer: Types.OutgoingTransferInput, options?: PostOptions & { workflow?: Omit<Types.CreateOutgoingTransferRequest['workflow'], 'code' | 'dryRun'>; data?: Omit<Types.CreateOutgoingTransferRequest['data'], 'outgoingTransfer'>; connect?: Types.CreateOutgoingTransferRequest['connect']; metadata?: Types.CreateOutgoingTransferRequest['metadata'] }): Call<Types.CreatedOutgoingTransfer, Types.CreatedOutgoingTransferResponse> =>
        send({ operation: 'createOutgoingTransfer', method: 'POST', path: '/outgoing-transfers', code: 'client.direct', data: { outgoingTransfer }, resource: 'outgoingTransfer' }, options),
      /** Send money: `POST /outgoing-transfers`, workflow `client.direct`. */
      dryRun: (outgoingTransfer: Types.OutgoingTransferInput, options?: PostOptions & { workflow?: Omit<Types.CreateOutgoingTransferRequest['workflow'], 'code' | 'dryRun'>; data?: Omit<Types.CreateOutgoingTransferRequest['data'], 'outgoingTransfer'>; connect?: Types.CreateOutgoingTransferRequest['connect']; metadata?: Types.CreateOutgoingTransferRequest['metadata'] }): Call<Types.PlannedOutgoingTransfer, Types.PlannedOutgoingTransferResponse> =>
        send({ operation: 'createOutgoingTransfer', method: 'POST', path: '/outgoing-transfers', workflow: { dryRun: true }, code: 'client.direct', data: { outgoingTransfer }, resource: 'outgoingTransfer' }, options),
      /** List outgoing transfers in order of creation: `GET /outgoing-transfers`. */
      list: (query?: { status?: Types.OutgoingTransferStatus; waitingFor?: Types.OutgoingTransferWait; transactionNumber?: string; paymentReference?: string; amountFrom?: string; amountTo?: string; currency?: Types.Currency; clientId?: string; accountId?: string; serviceProvider?: Types.Text; serviceProviderId?: Types.Text; serviceProviderReference?: Types.Text; transferDateFrom?: Types.CalendarDate; transferDateTo?: Types.CalendarDate; description?: Types.Text }, options?: ListOptions): List<Types.OutgoingTransfer, Types.OutgoingTransferListResponse> =>
        sendList({ operation: 'listOutgoingTransfers', method: 'GET', path: '/outgoing-transfers', query, names: { status: 'data.outgoingTransfer.status', waitingFor: 'data.outgoingTransfer.waitingFor', transactionNumber: 'data.outgoingTransfer.transactionNumber', paymentReference: 'data.outgoingTransfer.paymentReference', amountFrom: 'data.outgoingTransfer.amountFrom', amountTo: 'data.outgoingTransfer.amountTo', currency: 'data.outgoingTransfer.currency', clientId: 'data.outgoingTransfer.clientId', accountId: 'data.outgoingTransfer.accountId', serviceProvider: 'data.outgoingTransfer.serviceProvider', serviceProviderId: 'data.outgoingTransfer.serviceProviderId', serviceProviderReference: 'data.outgoingTransfer.serviceProviderReference', transferDateFrom: 'data.outgoingTransfer.transferDateFrom', transferDateTo: 'data.outgoingTransfer.transferDateTo', description: 'data.outgoingTransfer.description' }, resource: 'outgoingTransfers' }, options),
      batch: {
        /** Send money in a batch of transfers: `POST /outgoing-transfers/batch`, workflow `client.direct`. */
        create: (items: Types.CreateOutgoingTransferBatchRequest['data']['items'], options?: PostOptions & { workflow?: Omit<Types.CreateOutgoingTransferBatchRequest['workflow'], 'code' | 'dryRun'>; connect?: Types.CreateOutgoingTransferBatchRequest['connect']; metadata?: Types.CreateOutgoingTransferBatchRequest['metadata'] }): Call<Types.BatchResult[], Types.CreateOutgoingTransferBatchResponse> =>
          send({ operation: 'createOutgoingTransferBatch', method: 'POST', path: '/outgoing-transfers/batch', code: 'client.direct', data: { items }, resource: 'results' }, options),
      },
      /** Cancel or authorize a transfer, or report the outcome of a plug-in payment: `PATCH /outgoing-transfers/{id}`, workflow `client.direct`. */
      update: (id: string, outgoingTransfer: Types.OutgoingTransferChange, options?: CallOptions & { connect?: Types.UpdateOutgoingTransferRequest['connect']; metadata?: Types.UpdateOutgoingTransferRequest['metadata'] }): Call<Types.OutgoingTransfer, Types.OutgoingTransferResponse> =>
        send({ operation: 'updateOutgoingTransfer', method: 'PATCH', path: '/outgoing-transfers/{id}', parameters: { id }, code: 'client.direct', data: { outgoingTransfer }, resource: 'outgoingTransfer' }, options),
      /** Get an outgoing transfer: `GET /outgoing-transfers/{id}`. */
      get: (id: string, options?: CallOptions): Call<Types.OutgoingTransfer, Types.OutgoingTransferResponse> =>
        send({ operation: 'getOutgoingTransfer', method: 'GET', path: '/outgoing-transfers/{id}', parameters: { id }, resource: 'outgoingTransfer' }, options),
      /** Recall a released payment: `POST /outgoing-transfers/{id}/recall`, workflow `direct`. */
      recall: (id: string, options?: PostOptions & { connect?: Types.RecallOutgoingTransferRequest['connect']; metadata?: Types.RecallOutgoingTransferRequest['metadata'] }): Call<Types.OutgoingTransfer, Types.OutgoingTransferResponse> =>
        send({ operation: 'recallOutgoingTransfer', method: 'POST', path: '/outgoing-transfers/{id}/recall', parameters: { id }, code: 'direct', data: {}, resource: 'outgoingTransfer' }, options),
      complianceCheck: {
        /** Get the compliance check of a transfer: `GET /outgoing-transfers/{id}/compliance-check`. */
        get: (id: string, options?: CallOptions): Call<Types.ComplianceCheck, Types.ComplianceCheckResponse> =>
          send({ operation: 'getOutgoingTransferComplianceCheck', method: 'GET', path: '/outgoing-transfers/{id}/compliance-check', parameters: { id }, resource: 'complianceCheck' }, options),
        /** Record a result of the compliance check: `PATCH /outgoing-transfers/{id}/compliance-check`, workflow `direct`. */
        update: (id: string, complianceCheck: Types.ComplianceDecisionChange, options?: CallOptions & { connect?: Types.UpdateOutgoingTransferComplianceCheckRequest['connect']; metadata?: Types.UpdateOutgoingTransferComplianceCheckRequest['metadata'] }): Call<Types.ComplianceCheck, Types.ComplianceCheckResponse> =>
          send({ operation: 'updateOutgoingTransferComplianceCheck', method: 'PATCH', path: '/outgoing-transfers/{id}/compliance-check', parameters: { id }, code: 'direct', data: { complianceCheck }, resource: 'complianceCheck' }, options),
      },
      timeline: {
        /** Get the timeline of an outgoing transfer: `GET /outgoing-transfers/{id}/timeline`. */
        get: (id: string, options?: ListOptions): List<Types.TimelineEntry, Types.GetOutgoingTransferTimelineResponse> =>
          sendList({ operation: 'getOutgoingTransferTimeline', method: 'GET', path: '/outgoing-transfers/{id}/timeline', parameters: { id }, resource: 'timelineEntries' }, options),
      },
    },
    reconciliations: {
      /** List compared days in order of first comparison: `GET /reconciliations`. */
      list: (query?: { serviceProvider?: Types.Text; currency?: Types.Currency; status?: Types.ReconciliationStatus; date?: Types.CalendarDate; dateFrom?: Types.CalendarDate; dateTo?: Types.CalendarDate }, options?: ListOptions): List<Types.Reconciliation, Types.ReconciliationListResponse> =>
        sendList({ operation: 'listReconciliations', method: 'GET', path: '/reconciliations', query, names: { serviceProvider: 'data.reconciliation.serviceProvider', currency: 'data.reconciliation.currency', status: 'data.reconciliation.status', date: 'data.reconciliation.date', dateFrom: 'data.reconciliation.dateFrom', dateTo: 'data.reconciliation.dateTo' }, resource: 'reconciliations' }, options),
      /** Get a compared day: `GET /reconciliations/{id}`. */
      get: (id: string, options?: CallOptions): Call<Types.Reconciliation, Types.ReconciliationResponse> =>
        send({ operation: 'getReconciliation', method: 'GET', path: '/reconciliations/{id}', parameters: { id }, resource: 'reconciliation' }, options),
    },
    reconciliationBreaks: {
      /** List reconciliation breaks: `GET /reconciliation-breaks`. */
      list: (query?: { kind?: Types.ReconciliationBreakKind; serviceProvider?: Types.Text; currency?: Types.Currency; date?: Types.CalendarDate; reference?: Types.Text; resourceId?: string; status?: Types.ReconciliationBreakStatus }, options?: ListOptions): List<Types.ReconciliationBreak, Types.ReconciliationBreakListResponse> =>
        sendList({ operation: 'listReconciliationBreaks', method: 'GET', path: '/reconciliation-breaks', query, names: { kind: 'data.reconciliationBreak.kind', serviceProvider: 'data.reconciliationBreak.serviceProvider', currency: 'data.reconciliationBreak.currency', date: 'data.reconciliationBreak.date', reference: 'data.reconciliationBreak.reference', resourceId: 'data.reconciliationBreak.resourceId', status: 'data.reconciliationBreak.status' }, resource: 'reconciliationBreaks' }, options),
      /** Get a reconciliation break: `GET /reconciliation-breaks/{id}`. */
      get: (id: string, options?: CallOptions): Call<Types.ReconciliationBreak, Types.ReconciliationBreakResponse> =>
        send({ operation: 'getReconciliationBreak', method: 'GET', path: '/reconciliation-breaks/{id}', parameters: { id }, resource: 'reconciliationBreak' }, options),
      /** Resolve a break: `PATCH /reconciliation-breaks/{id}`, workflow `direct`. */
      resolve: (id: string, reconciliationBreak: Types.ReconciliationBreakResolutionChange, options?: CallOptions & { connect?: Types.ResolveReconciliationBreakRequest['connect']; metadata?: Types.ResolveReconciliationBreakRequest['metadata'] }): Call<Types.ReconciliationBreak, Types.ReconciliationBreakResponse> =>
        send({ operation: 'resolveReconciliationBreak', method: 'PATCH', path: '/reconciliation-breaks/{id}', parameters: { id }, code: 'direct', data: { reconciliationBreak }, resource: 'reconciliationBreak' }, options),
    },
    openBanking: {
      consents: {
        /** Get a consent: `GET /open-banking/{countryCode}/consents/{id}`. */
        get: (countryCode: string, id: string, options?: CallOptions): Call<Types.Consent, Types.ConsentResponse> =>
          send({ operation: 'getConsent', method: 'GET', path: '/open-banking/{countryCode}/consents/{id}', parameters: { countryCode, id }, resource: 'consent' }, options),
        /** Approve, reject or revoke a consent: `PATCH /open-banking/{countryCode}/consents/{id}`, workflow `direct`. */
        update: (countryCode: string, id: string, data: Types.UpdateConsentRequest['data'], options?: CallOptions & { connect?: Types.UpdateConsentRequest['connect']; metadata?: Types.UpdateConsentRequest['metadata'] }): Call<Types.ConsentOutcome, Types.ConsentOutcomeResponse> =>
          send({ operation: 'updateConsent', method: 'PATCH', path: '/open-banking/{countryCode}/consents/{id}', parameters: { countryCode, id }, code: 'direct', data, resource: 'resource' }, options),
        /** List consents in order of request: `GET /open-banking/{countryCode}/consents`. */
        list: (countryCode: string, query?: { userId?: string; code?: 'direct' }, options?: ListOptions): List<Types.Consent, Types.ConsentListResponse> =>
          sendList({ operation: 'listConsents', method: 'GET', path: '/open-banking/{countryCode}/consents', parameters: { countryCode }, query, names: { userId: 'data.consent.userId', code: 'workflow.code' }, resource: 'consents' }, options),
        /** Request a consent from an account holder: `POST /open-banking/{countryCode}/consents`, workflow `direct`. */
        request: (countryCode: string, consent: Types.ConsentRequestInput, options?: PostOptions & { connect?: Types.RequestConsentRequest['connect']; metadata?: Types.RequestConsentRequest['metadata'] }): Call<Types.Consent, Types.ConsentResponse> =>
          send({ operation: 'requestConsent', method: 'POST', path: '/open-banking/{countryCode}/consents', parameters: { countryCode }, code: 'direct', data: { consent }, resource: 'consent' }, options),
        timeline: {
          /** Get the timeline of a consent: `GET /open-banking/{countryCode}/consents/{id}/timeline`. */
          get: (countryCode: string, id: string, options?: ListOptions): List<Types.TimelineEntry, Types.GetConsentTimelineResponse> =>
            sendList({ operation: 'getConsentTimeline', method: 'GET', path: '/open-banking/{countryCode}/consents/{id}/timeline', parameters: { countryCode, id }, resource: 'timelineEntries' }, options),
        },
      },
      accounts: {
        /** List the accounts of the consent: `GET /open-banking/{countryCode}/accounts`. */
        list: (countryCode: string, options?: CallOptions): Call<Types.AccessedAccount[], Types.ListAccessedAccountsResponse> =>
          send({ operation: 'listAccessedAccounts', method: 'GET', path: '/open-banking/{countryCode}/accounts', parameters: { countryCode }, resource: 'accounts' }, options),
        balances: {
          /** Get the balance of an account of the consent: `GET /open-banking/{countryCode}/accounts/{id}/balances`. */
          list: (countryCode: string, id: string, options?: CallOptions): Call<Types.AccessedBalance[], Types.ListAccessedBalancesResponse> =>
            send({ operation: 'listAccessedBalances', method: 'GET', path: '/open-banking/{countryCode}/accounts/{id}/balances', parameters: { countryCode, id }, resource: 'balances' }, options),
        },
        transactions: {
          /** Get the statement of an account of the consent: `GET /open-banking/{countryCode}/accounts/{id}/transactions`. */
          list: (countryCode: string, id: string, query?: { entryDateTimeFrom?: Types.DateTime; entryDateTimeTo?: Types.DateTime }, options?: ListOptions): List<Types.AccessedTransaction, Types.AccessedTransactionListResponse> =>
            sendList({ operation: 'listAccessedTransactions', method: 'GET', path: '/open-banking/{countryCode}/accounts/{id}/transactions', parameters: { countryCode, id }, query, names: { entryDateTimeFrom: 'data.transaction.entryDateTimeFrom', entryDateTimeTo: 'data.transaction.entryDateTimeTo' }, resource: 'transactions' }, options),
        },
      },
      payments: {
        /** Make the payment of the consent: `POST /open-banking/{countryCode}/payments`, workflow `direct`. */
        create: (countryCode: string, payment: Types.PaymentInput, options?: PostOptions & { connect?: Types.CreateConsentedPaymentRequest['connect']; metadata?: Types.CreateConsentedPaymentRequest['metadata'] }): Call<Types.CreatedPayment, Types.CreatedPaymentResponse> =>
          send({ operation: 'createConsentedPayment', method: 'POST', path: '/open-banking/{countryCode}/payments', parameters: { countryCode }, code: 'direct', data: { payment }, resource: 'payment' }, options),
      },
    },
    thirdPartyProviders: {
      /** Register a third-party provider: `POST /third-party-providers`, workflow `direct`. */
      create: (thirdPartyProvider: Types.ThirdPartyProviderInput, options?: PostOptions & { connect?: Types.CreateThirdPartyProviderRequest['connect']; metadata?: Types.CreateThirdPartyProviderRequest['metadata'] }): Call<Types.ThirdPartyProvider, Types.ThirdPartyProviderResponse> =>
        send({ operation: 'createThirdPartyProvider', method: 'POST', path: '/third-party-providers', code: 'direct', data: { thirdPartyProvider }, resource: 'thirdPartyProvider' }, options),
      /** List third-party providers in order of creation: `GET /third-party-providers`. */
      list: (query?: { status?: Types.ThirdPartyProviderStatus }, options?: ListOptions): List<Types.ThirdPartyProvider, Types.ThirdPartyProviderListResponse> =>
        sendList({ operation: 'listThirdPartyProviders', method: 'GET', path: '/third-party-providers', query, names: { status: 'data.thirdPartyProvider.status' }, resource: 'thirdPartyProviders' }, options),
      /** Get a third-party provider: `GET /third-party-providers/{thirdPartyProviderId}`. */
      get: (thirdPartyProviderId: string, options?: CallOptions): Call<Types.ThirdPartyProvider, Types.ThirdPartyProviderResponse> =>
        send({ operation: 'getThirdPartyProvider', method: 'GET', path: '/third-party-providers/{thirdPartyProviderId}', parameters: { thirdPartyProviderId }, resource: 'thirdPartyProvider' }, options),
      /** Change a third-party provider, or end its access: `PATCH /third-party-providers/{thirdPartyProviderId}`, workflow `direct`. */
      update: (thirdPartyProviderId: string, thirdPartyProvider: Types.ThirdPartyProviderChange, options?: CallOptions & { connect?: Types.UpdateThirdPartyProviderRequest['connect']; metadata?: Types.UpdateThirdPartyProviderRequest['metadata'] }): Call<Types.ThirdPartyProvider, Types.ThirdPartyProviderResponse> =>
        send({ operation: 'updateThirdPartyProvider', method: 'PATCH', path: '/third-party-providers/{thirdPartyProviderId}', parameters: { thirdPartyProviderId }, code: 'direct', data: { thirdPartyProvider }, resource: 'thirdPartyProvider' }, options),
    },
    machineUsers: {
      /** Register a machine user with its first public key: `POST /machine-users`, workflow `direct`. */
      create: (machineUser: Types.MachineUserInput, options?: PostOptions & { connect?: Types.CreateMachineUserRequest['connect']; metadata?: Types.CreateMachineUserRequest['metadata'] }): Call<Types.MachineUser, Types.MachineUserResponse> =>
        send({ operation: 'createMachineUser', method: 'POST', path: '/machine-users', code: 'direct', data: { machineUser }, resource: 'machineUser' }, options),
      /** List machine users in order of creation: `GET /machine-users`. */
      list: (query?: { status?: Types.MachineUserStatus }, options?: ListOptions): List<Types.MachineUser, Types.MachineUserListResponse> =>
        sendList({ operation: 'listMachineUsers', method: 'GET', path: '/machine-users', query, names: { status: 'data.machineUser.status' }, resource: 'machineUsers' }, options),
      /** Get a machine user and its keys: `GET /machine-users/{machineUserId}`. */
      get: (machineUserId: string, options?: CallOptions): Call<Types.MachineUser, Types.MachineUserResponse> =>
        send({ operation: 'getMachineUser', method: 'GET', path: '/machine-users/{machineUserId}', parameters: { machineUserId }, resource: 'machineUser' }, options),
      /** Rename a machine user, change its roles, or revoke it: `PATCH /machine-users/{machineUserId}`, workflow `direct`. */
      update: (machineUserId: string, machineUser: Types.MachineUserChange, options?: CallOptions & { connect?: Types.UpdateMachineUserRequest['connect']; metadata?: Types.UpdateMachineUserRequest['metadata'] }): Call<Types.MachineUser, Types.MachineUserResponse> =>
        send({ operation: 'updateMachineUser', method: 'PATCH', path: '/machine-users/{machineUserId}', parameters: { machineUserId }, code: 'direct', data: { machineUser }, resource: 'machineUser' }, options),
      keys: {
        /** Register another public key, for rotation: `POST /machine-users/{machineUserId}/keys`, workflow `direct`. */
        create: (machineUserId: string, machineUserKey: Types.MachineUserKeyInput, options?: PostOptions & { connect?: Types.CreateMachineUserKeyRequest['connect']; metadata?: Types.CreateMachineUserKeyRequest['metadata'] }): Call<Types.MachineUser, Types.MachineUserResponse> =>
          send({ operation: 'createMachineUserKey', method: 'POST', path: '/machine-users/{machineUserId}/keys', parameters: { machineUserId }, code: 'direct', data: { machineUserKey }, resource: 'machineUser' }, options),
        /** Revoke a key: `DELETE /machine-users/{machineUserId}/keys/{keyId}`. */
        delete: (machineUserId: string, keyId: string, options?: CallOptions): Call<void, Types.DeleteMachineUserKeyResponse> =>
          send({ operation: 'deleteMachineUserKey', method: 'DELETE', path: '/machine-users/{machineUserId}/keys/{keyId}', parameters: { machineUserId, keyId } }, options),
      },
    },
    auditEntries: {
      /** List audit entries in chronological order: `GET /audit-entries`. */
      list: (query?: { resource?: Types.AuditedResource; resourceId?: Types.Text; actor?: Types.Text; action?: string; occurredFrom?: Types.DateTime; occurredTo?: Types.DateTime }, options?: ListOptions): List<Types.AuditEntry, Types.AuditEntryListResponse> =>
        sendList({ operation: 'listAuditEntries', method: 'GET', path: '/audit-entries', query, names: { resource: 'data.auditEntry.resource', resourceId: 'data.auditEntry.resourceId', actor: 'data.auditEntry.actor', action: 'data.auditEntry.action', occurredFrom: 'data.auditEntry.occurredFrom', occurredTo: 'data.auditEntry.occurredTo' }, resource: 'auditEntries' }, options),
      /** Export audit entries as a file: `GET /audit-entries/export`. */
      export: (query?: { resource?: Types.AuditedResource; resourceId?: Types.Text; actor?: Types.Text; action?: string; occurredFrom?: Types.DateTime; occurredTo?: Types.DateTime }, options?: CallOptions): Call<string, string> =>
        send({ operation: 'exportAuditEntries', method: 'GET', path: '/audit-entries/export', query, names: { resource: 'data.auditEntry.resource', resourceId: 'data.auditEntry.resourceId', actor: 'data.auditEntry.actor', action: 'data.auditEntry.action', occurredFrom: 'data.auditEntry.occurredFrom', occurredTo: 'data.auditEntry.occurredTo' } }, options),
    },
    webhookSubscriptions: {
      /** Subscribe to events: `POST /webhook-subscriptions`, workflow `direct`. */
      create: (webhookSubscription: Types.WebhookSubscriptionInput, options?: PostOptions & { connect?: Types.CreateWebhookSubscriptionRequest['connect']; metadata?: Types.CreateWebhookSubscriptionRequest['metadata'] }): Call<Types.WebhookSubscriptionWithSecret, Types.WebhookSubscriptionWithSecretResponse> =>
        send({ operation: 'createWebhookSubscription', method: 'POST', path: '/webhook-subscriptions', code: 'direct', data: { webhookSubscription }, resource: 'webhookSubscription' }, options),
      /** List webhook subscriptions: `GET /webhook-subscriptions`. */
      list: (query?: { status?: Types.WebhookSubscriptionStatus }, options?: ListOptions): List<Types.WebhookSubscription, Types.WebhookSubscriptionListResponse> =>
        sendList({ operation: 'listWebhookSubscriptions', method: 'GET', path: '/webhook-subscriptions', query, names: { status: 'data.webhookSubscription.status' }, resource: 'webhookSubscriptions' }, options),
      /** Get a webhook subscription: `GET /webhook-subscriptions/{webhookSubscriptionId}`. */
      get: (webhookSubscriptionId: string, options?: CallOptions): Call<Types.WebhookSubscription, Types.WebhookSubscriptionResponse> =>
        send({ operation: 'getWebhookSubscription', method: 'GET', path: '/webhook-subscriptions/{webhookSubscriptionId}', parameters: { webhookSubscriptionId }, resource: 'webhookSubscription' }, options),
      /** Change a webhook subscription: `PATCH /webhook-subscriptions/{webhookSubscriptionId}`, workflow `direct`. */
      update: (webhookSubscriptionId: string, webhookSubscription: Types.WebhookSubscriptionChange, options?: CallOptions & { connect?: Types.UpdateWebhookSubscriptionRequest['connect']; metadata?: Types.UpdateWebhookSubscriptionRequest['metadata'] }): Call<Types.WebhookSubscription, Types.WebhookSubscriptionResponse> =>
        send({ operation: 'updateWebhookSubscription', method: 'PATCH', path: '/webhook-subscriptions/{webhookSubscriptionId}', parameters: { webhookSubscriptionId }, code: 'direct', data: { webhookSubscription }, resource: 'webhookSubscription' }, options),
      /** Delete a webhook subscription: `DELETE /webhook-subscriptions/{webhookSubscriptionId}`. */
      delete: (webhookSubscriptionId: string, options?: CallOptions): Call<void, Types.DeleteWebhookSubscriptionResponse> =>
        send({ operation: 'deleteWebhookSubscription', method: 'DELETE', path: '/webhook-subscriptions/{webhookSubscriptionId}', parameters: { webhookSubscriptionId } }, options),
      /** Rotate the secret of a subscription: `POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret`, workflow `direct`. */
      rotateSecret: (webhookSubscriptionId: string, options?: PostOptions & { connect?: Types.RotateWebhookSubscriptionSecretRequest['connect']; metadata?: Types.RotateWebhookSubscriptionSecretRequest['metadata'] }): Call<Types.WebhookSubscriptionWithSecret, Types.WebhookSubscriptionWithSecretResponse> =>
        send({ operation: 'rotateWebhookSubscriptionSecret', method: 'POST', path: '/webhook-subscriptions/{webhookSubscriptionId}/rotate-secret', parameters: { webhookSubscriptionId }, code: 'direct', data: {}, resource: 'webhookSubscription' }, options),
      /** Send a test webhook: `POST /webhook-subscriptions/{webhookSubscriptionId}/ping`, workflow `direct`. */
      ping: (webhookSubscriptionId: string, options?: PostOptions & { connect?: Types.PingWebhookSubscriptionRequest['connect']; metadata?: Types.PingWebhookSubscriptionRequest['metadata'] }): Call<Types.WebhookDelivery, Types.WebhookDeliveryResponse> =>
        send({ operation: 'pingWebhookSubscription', method: 'POST', path: '/webhook-subscriptions/{webhookSubscriptionId}/ping', parameters: { webhookSubscriptionId }, code: 'direct', data: {}, resource: 'webhookDelivery' }, options),
      /** Replay the events of a period: `POST /webhook-subscriptions/{webhookSubscriptionId}/replay`, workflow `direct`. */
      replay: (webhookSubscriptionId: string, webhookSubscription: Types.WebhookReplayInput, options?: PostOptions & { connect?: Types.ReplayWebhookSubscriptionRequest['connect']; metadata?: Types.ReplayWebhookSubscriptionRequest['metadata'] }): Call<Types.ReplayWebhookSubscriptionResponse['data'], Types.ReplayWebhookSubscriptionResponse> =>
        send({ operation: 'replayWebhookSubscription', method: 'POST', path: '/webhook-subscriptions/{webhookSubscriptionId}/replay', parameters: { webhookSubscriptionId }, code: 'direct', data: { webhookSubscription } }, options),
    },
    webhookDeliveries: {
      /** List deliveries with their attempts: `GET /webhook-deliveries`. */
      list: (query?: { webhookSubscriptionId?: string; status?: Types.WebhookDeliveryStatus; eventId?: string; resourceId?: string; type?: string }, options?: ListOptions): List<Types.WebhookDelivery, Types.WebhookDeliveryListResponse> =>
        sendList({ operation: 'listWebhookDeliveries', method: 'GET', path: '/webhook-deliveries', query, names: { webhookSubscriptionId: 'data.webhookDelivery.webhookSubscriptionId', status: 'data.webhookDelivery.status', eventId: 'data.webhookDelivery.eventId', resourceId: 'data.webhookDelivery.resourceId', type: 'data.webhookDelivery.type' }, resource: 'webhookDeliveries' }, options),
      /** Get a delivery with its attempts: `GET /webhook-deliveries/{webhookDeliveryId}`. */
      get: (webhookDeliveryId: string, options?: CallOptions): Call<Types.WebhookDelivery, Types.WebhookDeliveryResponse> =>
        send({ operation: 'getWebhookDelivery', method: 'GET', path: '/webhook-deliveries/{webhookDeliveryId}', parameters: { webhookDeliveryId }, resource: 'webhookDelivery' }, options),
      /** Retry a delivery immediately: `POST /webhook-deliveries/{webhookDeliveryId}/retry`, workflow `direct`. */
      retry: (webhookDeliveryId: string, options?: PostOptions & { connect?: Types.RetryWebhookDeliveryRequest['connect']; metadata?: Types.RetryWebhookDeliveryRequest['metadata'] }): Call<Types.WebhookDelivery, Types.WebhookDeliveryResponse> =>
        send({ operation: 'retryWebhookDelivery', method: 'POST', path: '/webhook-deliveries/{webhookDeliveryId}/retry', parameters: { webhookDeliveryId }, code: 'direct', data: {}, resource: 'webhookDelivery' }, options),
    },
    events: {
      /** Poll the event log: `GET /events`. */
      list: (query?: { positionAfter?: string; module?: Types.WebhookModule; type?: string }, options?: ListOptions): List<Types.Event, Types.EventListResponse> =>
        sendList({ operation: 'listEvents', method: 'GET', path: '/events', query, names: { positionAfter: 'data.event.positionAfter', module: 'data.event.module', type: 'data.event.type' }, resource: 'events' }, options),
    },
  };
}
