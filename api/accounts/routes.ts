import { patchAccount } from '../../db/accounts/accounts.ts';
import { createAccount, createSubAccount } from '../../db/accounts/creation.ts';
import { type AccountFilter, findAccount, listAccounts } from '../../db/accounts/reads.ts';
import { findClient } from '../../db/clients/clients.ts';
import type { Reader } from '../../db/query/database.ts';
import { ACCOUNT_STATUSES, defaultAlias, presentAccount, presentConnection } from '../../domain/accounts/accounts.ts';
import { normalRoutingCode } from '../../domain/accounts/bank-accounts.ts';
import { normalIban } from '../../domain/accounts/identifiers/ibans.ts';
import { chooseProvider } from '../../domain/accounts/issuing.ts';
import { presentClient } from '../../domain/clients/clients.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, ClientId, UserId } from '../../domain/common/ids.ts';
import { ALIAS_LENGTH_MAX, FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { CLIENT_SUMMARY_EXAMPLE, clientSummaryShown } from '../clients/schemas.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import {
  amountText,
  currency,
  fields,
  list,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { MIGRATION_ERRORS, migrationConnectShown, presentMigratedConnection } from '../providers/migrations.ts';
import { PROVIDER_CODE_LENGTH_MAX } from '../providers/schemas.ts';
import { findAccountToMigrate, migrationWorkflow, storeMigratedAccount } from './migrations.ts';
import {
  ACCOUNT_EXAMPLE,
  ACCOUNT_NUMBER_LENGTH_MAX,
  accountShown,
  CONNECTION_EXAMPLE,
  connectionShown,
  IBAN_TEXT_LENGTH_MAX,
  issuingWorkflow,
  PENDING_ACCOUNT_EXAMPLE,
  patchWorkflow,
  ROUTING_CODE_KEY,
  ROUTING_CODE_VALUE_LENGTH_MAX,
  subAccountWorkflow,
} from './schemas.ts';

const TAG = 'Accounts';
const CLIENT_EXPAND = 'data.account.clientId';
/** The deprecated copy of `data.account.connection` (specification 9). */
const CONNECTION_INCLUDE = 'connect.connection';

const postAccount = route(
  {
    method: 'POST',
    path: '/accounts',
    operationId: 'createAccount',
    summary: 'Open an account',
    description:
      'A built-in account is opened by its provider after the response and then becomes active or declined. A plug-in account stays pending until the caller reports its connection with PATCH. `client.migration` imports an account from the named provider, where `data.sourceId` is its id: it is active immediately, and its opening balance is the balance that the provider reports. The client must have been migrated from that provider, or have an account there. A sub-account has its own ledger number and balance, and the bank details of its main account. It becomes active as soon as its main account is active, and can pay and be paid only while its main account is active.',
    tag: TAG,
    roles: ['operator'],
    workflows: {
      'client.issuing': issuingWorkflow,
      'client.migration': migrationWorkflow,
      'client.sub-account': subAccountWorkflow,
    },
    response: fields({ account: accountShown }),
    responseConnect: migrationConnectShown,
    errors: [
      'common.coding.internal.record_not_found',
      'account.client.mismatch',
      'account.currency.mismatch',
      'account.sub_account.nested',
      'client.status.not_active',
      'account.status.not_active',
      'connect.offer.unavailable',
      'common.state.illegal_transition',
      'connect.client.not_connected',
      'connect.client.mismatch',
      ...MIGRATION_ERRORS,
    ],
    examples: {
      requests: {
        'client.migration': {
          data: {
            sourceId: 'account-corporate-gbp',
            account: { clientId: ACCOUNT_EXAMPLE.clientId, currency: 'GBP', alias: 'GBP Account' },
          },
          connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
        'client.issuing': {
          data: { account: { clientId: ACCOUNT_EXAMPLE.clientId, currency: 'GBP', alias: 'GBP Account' } },
          connect: { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' },
        },
        'client.sub-account': {
          data: {
            account: {
              mainAccountId: ACCOUNT_EXAMPLE.id,
              clientId: ACCOUNT_EXAMPLE.clientId,
              currency: 'GBP',
              alias: 'Savings',
            },
          },
        },
      },
      response: { account: PENDING_ACCOUNT_EXAMPLE },
    },
  },
  async ({ body, requestId, initiator, services, storedAnswer, write, transaction }) => {
    if (body.code === 'client.migration') {
      const asked = { services, requestId, provider: body.connect.serviceProvider, sourceId: body.data.sourceId };
      const found = await findAccountToMigrate(asked, body.data.account, storedAnswer);
      if ('rendered' in found) return found;
      return transaction(async (tx) => {
        const { account, connection } = await storeMigratedAccount(tx, found, initiator);
        return {
          data: { account: presentAccount(account) },
          connect: { connection: presentMigratedConnection({ ...found.origin, ...connection }) },
        };
      });
    }
    if (body.code === 'client.sub-account') {
      const request = body.data.account;
      return write(async (tx) => ({
        data: { account: presentAccount(await createSubAccount(tx, request, initiator)) },
      }));
    }
    const { clientId, currency: code, country = null, alias } = body.data.account;
    return write(async (tx) => {
      const chosen = chooseProvider(services.configuration.providers, body.connect, { currency: code, country });
      const wanted = {
        clientId,
        method: chosen.provider.method,
        provider: chosen.provider.code,
        country: chosen.country,
        currency: code,
        alias: alias ?? defaultAlias(code),
      };
      const account = await createAccount(tx, wanted, initiator);
      return { data: { account: presentAccount(account) } };
    });
  },
);

const patchAccountRoute = route(
  {
    method: 'PATCH',
    path: '/accounts/{accountId}',
    operationId: 'updateAccount',
    summary: 'Rename or close an account; report the result of a plug-in account',
    description:
      'Built-in accounts accept only `alias` and the status `closed`, and are then closed by their provider. For plug-in accounts the caller reports status, bank details and connection. Only an empty account can be closed: no balance, nothing reserved or receivable, no open transfer or sub-account.',
    tag: TAG,
    roles: ['operator'],
    params: { accountId: uuid<AccountId>() },
    workflows: { 'client.direct': patchWorkflow },
    response: fields({ account: accountShown }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition', 'account.close.not_empty'],
    examples: {
      requests: {
        'client.direct': {
          data: {
            account: {
              status: 'active',
              iban: ACCOUNT_EXAMPLE.iban,
              connection: { reference: 'CB-17', state: 'completed-up-to-date', status: 'active' },
            },
          },
        },
      },
      response: {
        account: {
          ...ACCOUNT_EXAMPLE,
          serviceProvider: 'custom-bank',
          connection: { ...CONNECTION_EXAMPLE, method: 'plug-in', serviceProvider: 'custom-bank', reference: 'CB-17' },
        },
      },
    },
  },
  async ({ params, body, initiator, write }) => {
    const { connection, ...patch } = body.data.account;
    const error = connection?.error;
    return write(async (tx) => {
      const asked = {
        ...patch,
        connection:
          connection === undefined
            ? undefined
            : { ...connection, error: error ? { ...error, attributes: error.attributes ?? {} } : error },
      };
      const { account } = await patchAccount(tx, params.accountId, asked, initiator);
      return { data: { account: presentAccount(account) } };
    });
  },
);

const getAccount = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}',
    operationId: 'getAccount',
    summary: 'Get an account',
    tag: TAG,
    params: { accountId: uuid<AccountId>() },
    include: [CONNECTION_INCLUDE],
    expand: [CLIENT_EXPAND],
    deprecatedIncludes: { [CONNECTION_INCLUDE]: { since: '2023-06-01', sunset: '2024-05-31' } },
    response: fields({ account: accountShown, client: optional(clientSummaryShown) }),
    responseConnect: fields({ connection: optional(connectionShown) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { account: ACCOUNT_EXAMPLE, client: CLIENT_SUMMARY_EXAMPLE } },
  },
  async ({ params, include, expand, services }) => {
    const { reader } = services.database;
    const account = await findAccount(reader, params.accountId);
    if (account === null) throw recordNotFound('account', 'id', params.accountId);
    const client = expand.has(CLIENT_EXPAND) ? { client: await clientSummary(reader, account.clientId) } : {};
    const connection = presentConnection(account);
    return {
      data: { account: presentAccount(account), ...client },
      connect: include.has(CONNECTION_INCLUDE) && connection !== null ? { connection } : {},
    };
  },
);

async function clientSummary(reader: Reader, clientId: ClientId) {
  const client = await findClient(reader, clientId);
  if (client === null) throw new Error(`the client ${clientId} of an account does not exist`);
  const { id, clientNumber, fullName, status, identity } = presentClient(client);
  return { id, clientNumber, fullName, status, identity };
}

const getAccounts = route(
  {
    method: 'GET',
    path: '/accounts',
    operationId: 'listAccounts',
    summary: 'List accounts in order of creation',
    description: '`data.account.userId` selects the accounts of all clients that this user may act for.',
    tag: TAG,
    paged: true,
    query: {
      'data.account.clientId': optional(uuid<ClientId>()),
      'data.account.status': optional(named('AccountStatus', picklist(ACCOUNT_STATUSES))),
      'data.account.currency': optional(currency()),
      'data.account.alias': optional(text(ALIAS_LENGTH_MAX)),
      'data.account.routingCodeKey': optional(pattern(ROUTING_CODE_KEY, 'a kind of routing code')),
      'data.account.routingCodeValue': optional(text(ROUTING_CODE_VALUE_LENGTH_MAX)),
      'data.account.iban': optional(text(IBAN_TEXT_LENGTH_MAX)),
      'data.account.accountNumber': optional(text(ACCOUNT_NUMBER_LENGTH_MAX)),
      'data.account.ledgerNumber': optional(pattern(/^\d{1,20}$/, 'a ledger number')),
      'data.account.availableBalanceFrom': optional(amountText()),
      'data.account.availableBalanceTo': optional(amountText()),
      'data.account.serviceProvider': optional(text(PROVIDER_CODE_LENGTH_MAX)),
      'data.account.accountHolderName': optional(text(FULL_NAME_LENGTH_MAX)),
      'data.account.mainAccountId': optional(uuid<AccountId>()),
      'data.account.userId': optional(uuid<UserId>()),
    },
    response: fields({ accounts: list(accountShown, 0, 100) }),
    examples: { response: { accounts: [ACCOUNT_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const key = query['data.account.routingCodeKey'];
    const value = query['data.account.routingCodeValue'];
    const iban = query['data.account.iban'];
    const filter: AccountFilter = {
      clientId: query['data.account.clientId'],
      status: query['data.account.status'],
      currency: query['data.account.currency'],
      alias: query['data.account.alias'],
      routingCodeKey: key,
      // Compared as stored: callers may write a sort code with dashes.
      routingCodeValue: key === undefined || value === undefined ? value : (normalRoutingCode(key, value) ?? value),
      iban: iban === undefined ? undefined : normalIban(iban),
      accountNumber: query['data.account.accountNumber'],
      ledgerNumber: query['data.account.ledgerNumber'],
      availableBalanceFrom: query['data.account.availableBalanceFrom'],
      availableBalanceTo: query['data.account.availableBalanceTo'],
      serviceProvider: query['data.account.serviceProvider'],
      accountHolderName: query['data.account.accountHolderName'],
      mainAccountId: query['data.account.mainAccountId'],
      userId: query['data.account.userId'],
    };
    const { rows, totalElements } = await listAccounts(services.database.reader, filter, page);
    return { data: { accounts: rows.map(presentAccount) }, totalElements };
  },
);

export const accountRoutes = [postAccount, patchAccountRoute, getAccount, getAccounts] as const;
