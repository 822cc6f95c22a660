import type { ErrorCode } from './errors.ts';

/** What a caller needs to know about a code. The OpenAPI document, the page of each code and the commands print it. */
export interface ErrorExplanation {
  /** One of the messages that the code comes with. */
  readonly example: string;
  readonly happened: string;
  readonly whatToDo: string;
}

export const ERROR_EXPLANATIONS: Readonly<Record<ErrorCode, ErrorExplanation>> = {
  'common.coding.internal.record_not_found': {
    example: 'No account with this id exists.',
    happened: 'The path, or an id in the path or the body, names something that does not exist in this installation.',
    whatToDo:
      'Compare the id in `messageParameters` with the one that you stored, and check that the request went to the right installation: repeated unchanged it is rejected again.',
  },
  'common.validation.field_required': {
    example: 'data.account.currency is required.',
    happened: 'A required field is missing, or is null where it needs a value.',
    whatToDo:
      'Send the field that `messageParameters` names; `errors` lists all other problems of the same body, so that one correction is enough.',
  },
  'common.validation.field_invalid': {
    example: 'data.account.currency must be an active ISO 4217 currency code.',
    happened: 'A field, a parameter, a header or the request itself breaks a rule about its form or value.',
    whatToDo:
      'Correct what `messageParameters` names by the rule in `message`; `errors` lists all other problems of the same request.',
  },
  'common.validation.field_unexpected': {
    example: 'data.account.status is not a field that can be sent here.',
    happened: 'The body or the query has a field that this operation does not know, or does not take in this case.',
    whatToDo:
      'Remove the field or correct its spelling: in `data`, `workflow` and the query nothing unknown is ignored, so that no typing error passes for a default.',
  },
  'common.validation.mutually_exclusive': {
    example: 'Send one of the two fields.',
    happened: 'Two fields that exclude each other were sent together.',
    whatToDo: 'Send only the one that you mean; `message` says which two they are.',
  },
  'common.validation.limit_exceeded': {
    example: 'data.client.relations must have at most 10 items.',
    happened: 'The body, a list in it, a page number or the number of resources is above a limit.',
    whatToDo: 'Split the request, or narrow a list by a filter; `message` has the limit.',
  },
  'common.workflow.unknown_code': {
    example: 'workflow.code must be one of the codes of this path.',
    happened: '`workflow.code` is none of the codes that this operation knows.',
    whatToDo: 'Send one of the codes that `message` lists; each code has its own fields in `data`.',
  },
  'common.idempotency.key_reused': {
    example: 'This Idempotency-Key was used with a different request.',
    happened:
      'The `Idempotency-Key`, or an id that serves as one, belongs to an earlier request with other content; this request did nothing.',
    whatToDo: 'Draw a new key for each new request, and repeat a request only unchanged, under its own key.',
  },
  'common.idempotency.in_progress': {
    example: 'The first request with this Idempotency-Key is still in progress.',
    happened: 'An earlier request with the same key was still being processed after a wait of five seconds.',
    whatToDo: 'Repeat the same request with the same key after some seconds: you get the answer to the first.',
  },
  'common.security.unauthenticated': {
    example: 'A bearer token signed by a registered key of an active machine user is required.',
    happened:
      'The request has no token, or one that has expired, is for another audience, or is signed by a key that is unknown or revoked.',
    whatToDo:
      'Sign a new token and repeat the request, a write with its `Idempotency-Key`; if a new token is rejected too, compare its `kid`, `iss`, `sub` and `aud` with the registration, and its times with a correct clock.',
  },
  'common.security.access_denied': {
    example: 'This needs the role operator.',
    happened: 'The caller is known, but its roles or the scope of its consent do not permit this operation.',
    whatToDo:
      'Use a machine user that has the role in `message`; a payment is authorized by another machine user than the one that made it.',
  },
  'common.rate.limited': {
    example: 'Too many requests: retry in 1 s.',
    happened: 'This caller sent more requests, or more large bodies at once, than the installation allows.',
    whatToDo: 'Wait for the seconds in `Retry-After`, repeat the request with the same key, and send fewer at once.',
  },
  'common.state.illegal_transition': {
    example: 'The account is closed and cannot be reopened.',
    happened:
      'The resource is in a status that does not allow this change; often something else has changed it first, such as the bank or another caller.',
    whatToDo: 'Read the resource and decide by its present status; do not repeat the request blindly.',
  },
  'common.dependency.unavailable': {
    example: 'The database is not available. Nothing was done.',
    happened:
      'The database did not answer in time; `message` says whether nothing was done or whether the outcome is unknown.',
    whatToDo:
      'Repeat the request with the same `Idempotency-Key` after the seconds in `Retry-After`: you get what was done, or it is done now.',
  },
  'common.internal.error': {
    example: 'The service failed to answer this request.',
    happened: 'A fault of the service, which its log records under the `Request-Id` of the answer.',
    whatToDo:
      'Give the `Request-Id` to those who run the service; a write may be repeated only with the same `Idempotency-Key`.',
  },
  'account.balance.insufficient': {
    example: 'The available balance does not cover the amount and its fee.',
    happened: 'The account has less available money, without what is reserved, than the amount and its fee.',
    whatToDo:
      'Pay money in, or send less: a dry run shows the fee; a payment to another bank would wait for the money until its cut-off.',
  },
  'account.status.not_active': {
    example: 'The account is not active.',
    happened: 'The account, or the client that it belongs to, is in a status in which it can neither pay nor be paid.',
    whatToDo:
      'Read `status` of the account that `messageParameters` names: wait if it is `pending`, and find out who suspended or closed it if it is not.',
  },
  'account.currency.mismatch': {
    example: 'The account is in another currency.',
    happened: 'The currency of the request is not that of an account that takes part.',
    whatToDo: 'Choose accounts and an amount in one currency: there is no currency exchange.',
  },
  'account.close.not_empty': {
    example: 'The account still holds money.',
    happened:
      'The account has a balance, reserved or expected money, an open transfer or an open sub-account, so it cannot be closed.',
    whatToDo: 'Move its money, let its transfers end, close its sub-accounts, and then close it.',
  },
  'account.client.mismatch': {
    example: 'The account belongs to another client.',
    happened: 'The client that is named does not own the account that is named.',
    whatToDo: 'Send the `clientId` of the account, which its own answer shows.',
  },
  'account.method.mismatch': {
    example: 'The account is not managed by the caller.',
    happened:
      'The account is at another provider than the money, or its connection is not of the kind that this operation is for.',
    whatToDo:
      'Choose an account of the provider in `message`; only for `plug-in` accounts does the caller report money, for `built-in` ones the provider does.',
  },
  'account.sub_account.nested': {
    example: 'A sub-account cannot have sub-accounts.',
    happened: '`mainAccountId` names an account that is itself a sub-account.',
    whatToDo: 'Name its main account instead: there is one level of sub-accounts.',
  },
  'client.status.not_active': {
    example: 'The client is suspended.',
    happened: 'The client is not `active`, so it opens no accounts and sends no money.',
    whatToDo:
      'Read `status` of the client; the role `compliance` or `admin` can make it active again unless it is closed.',
  },
  'client.close.not_empty': {
    example: 'The client has an open account.',
    happened: 'The client still has an account that is not closed.',
    whatToDo: 'Close its accounts, then the client.',
  },
  'user.authentication.failed': {
    example: 'No active user has this e-mail address and this password.',
    happened:
      'The e-mail address is unknown, the password is wrong, or the user is not active; the answer does not say which.',
    whatToDo:
      'Let the person try again or set a new password; after ten failures within 15 minutes further attempts get 429.',
  },
  'user.password.not_set': {
    example: 'The user has no password: an invitation sets the first one.',
    happened: 'A new password was asked for a user who has never had one.',
    whatToDo: 'Invite the user: the page of the invitation sets the first password.',
  },
  'transfer.client.mismatch': {
    example: 'The beneficiary belongs to another client.',
    happened: 'The bank account of the destination belongs to a beneficiary of another client.',
    whatToDo: 'Create the beneficiary for the client that pays, and send the id of its bank account there.',
  },
  'transfer.recall.unavailable': {
    example: 'The provider of the transfer does not support recalls.',
    happened: 'The transfer is internal, or its provider cannot ask the other bank for the money back.',
    whatToDo:
      'Ask the receiver for a payment in the other direction; repeated unchanged the request is rejected again.',
  },
  'transfer.scheme.unavailable': {
    example: 'The scheme is not offered for this account.',
    happened: 'The scheme is not offered for the source account, or cannot reach the bank account of the destination.',
    whatToDo:
      'Ask `GET /accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}` which schemes there are, and give the destination the numbers that the scheme needs.',
  },
  'transfer.amount.limit_exceeded': {
    example: 'The amount exceeds the limit of the scheme.',
    happened: 'The scheme carries no payment of this amount in this currency.',
    whatToDo: 'Choose a scheme for large amounts, such as `chaps`, `target2` or `swift`, or pay in parts.',
  },
  'transfer.date.invalid': {
    example: 'The transfer date is in the past.',
    happened: 'The transfer date is past, or is further ahead than payments may be dated.',
    whatToDo:
      'Ask `GET /accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}` for the next date and the closed days, or send no date.',
  },
  'transfer.roll.limit_exceeded': {
    example: 'The transfer was moved to a later day too often.',
    happened:
      'The transfer missed so many cut-offs, waiting for money, a review or an authorization, that it has failed.',
    whatToDo: 'Remove what it waited for, and create it again.',
  },
  'transfer.attribute.invalid': {
    example: 'The scheme attribute is missing or invalid.',
    happened: 'The currency needs an entry in `schemeAttributes` that is missing, is wrong, or is not one of its own.',
    whatToDo: 'Send the attributes that the description of `schemeAttributes` lists for the currency and the reason.',
  },
  'beneficiary.bank_account.not_active': {
    example: 'The bank account is inactive.',
    happened: 'The bank account of the beneficiary has been set to `inactive`.',
    whatToDo: 'Pay to another of its bank accounts, or make this one active again by PATCH.',
  },
  'beneficiary.bank_account.update_not_allowed': {
    example: 'Bank accounts are changed at their own path.',
    happened: 'A change of the beneficiary also has fields of a bank account.',
    whatToDo: 'Send these to `/beneficiaries/{beneficiaryId}/bank-accounts`: new numbers are a new bank account.',
  },
  'compliance.external.not_enabled': {
    example: 'Compliance checks are not managed by the caller.',
    happened: 'The installation does not leave reviews of this direction and currency to callers.',
    whatToDo:
      'Set `compliance` to `external` in the configuration if your own systems are to decide; an operator can decide in every mode.',
  },
  'consent.status.invalid': {
    example: 'The status of the consent does not allow this action.',
    happened: 'The consent has been decided, used, revoked or has expired, so this action comes too late.',
    whatToDo: 'Read its status; a third party asks for a new consent where this one has ended.',
  },
  'consent.content.mismatch': {
    example: 'data.payment.instructedAmount differs from the content that the account holder approved.',
    happened: 'The payment is not the one that the account holder approved.',
    whatToDo: 'Send exactly the approved content, or ask for a new consent.',
  },
  'consent.country.not_supported': {
    example: 'Open banking consents are available only in GB.',
    happened: 'The country in the path has no open banking consents here.',
    whatToDo: 'Use `GB`.',
  },
  'consent.accounts.limit_exceeded': {
    example: 'A payment consent requires exactly one account.',
    happened: 'A consent to a payment was approved for several accounts.',
    whatToDo: 'Let the account holder choose the one account that pays.',
  },
  'user.status.not_active': {
    example: 'The user is not active.',
    happened: 'The user who should act is `inactive`.',
    whatToDo: 'Make the user active again by PATCH, or let another user act.',
  },
  'user.client_relation.not_allowed': {
    example: 'The user may not act for the client of this account.',
    happened: 'The user has no relation to the client of the account, or it has been revoked.',
    whatToDo: 'Invite the user for this client, or set the relation back to `allowed`.',
  },
  'third_party_provider.status.not_active': {
    example: 'The third-party provider is not active.',
    happened: 'The company that asked for the consent has been suspended or removed here.',
    whatToDo: 'Reject the consent; an administrator can make the third-party provider active again.',
  },
  'third_party_provider.redirect_uri.not_registered': {
    example: 'The redirect address of the request is not registered for the third-party provider.',
    happened: 'The address to which the account holder would return is not, or no longer, one of the registered ones.',
    whatToDo: 'Register exactly this address for the third-party provider, and let it ask for a new consent.',
  },
  'connect.offer.unavailable': {
    example: 'No provider offers JPY in FR.',
    happened: 'No configured provider, or not the named one, has accounts in this currency and country.',
    whatToDo: 'Choose another currency, country or provider, or add the offer to `providers` in the configuration.',
  },
  'connect.provider.unavailable': {
    example: 'The provider did not respond.',
    happened: 'The provider or directory that had to answer at once did not, and nothing was stored.',
    whatToDo: 'Repeat the request with the same `Idempotency-Key` after the seconds in `Retry-After`.',
  },
  'connect.resource.not_found': {
    example: 'The provider has no such resource.',
    happened: 'The provider knows nothing by the given `sourceId`.',
    whatToDo:
      'Compare the `sourceId` with the name that the provider uses, and check that the right provider was asked.',
  },
  'connect.resource.invalid': {
    example: 'The data of sandbox-bank cannot be imported: data.client.profile.residentialAddress is required.',
    happened: 'The provider does not release the resource, or its data there break a rule here.',
    whatToDo: 'Let the provider correct the field that `message` names, and send the same request again.',
  },
  'connect.client.not_connected': {
    example: 'The provider does not know the client.',
    happened: 'The client was not migrated from this provider and has no connection there.',
    whatToDo: 'Migrate the client first, then its accounts and beneficiaries.',
  },
  'connect.client.mismatch': {
    example: 'The account belongs to another client of the provider.',
    happened: 'At the provider the account or beneficiary belongs to another client than the named one.',
    whatToDo: 'Name the client that owns it at the provider.',
  },
  'connect.method.type_mismatch': {
    example: 'The method plug-in requires the type explicit.',
    happened: '`connect` has a `method` and a `type`, or a provider, that do not go together.',
    whatToDo: 'Send `explicit` with `connect.serviceProvider` for `plug-in`; only `built-in` providers can be asked.',
  },
};
