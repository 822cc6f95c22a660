import * as v from 'valibot';
import {
  ACCOUNT_STATUSES,
  CONNECT_METHODS,
  CONNECTION_ERROR_CATEGORIES,
  CONNECTION_ERROR_ORIGINS,
  CONNECTION_STATES,
  CONNECTION_STATUSES,
} from '../../domain/accounts/accounts.ts';
import type { AccountId, ClientId, ConnectionId } from '../../domain/common/ids.ts';
import { ALIAS_LENGTH_MAX, FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import {
  amount,
  clearable,
  country,
  currency,
  fields,
  map,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { connectConflicts, PROVIDER_CODE_LENGTH_MAX } from '../providers/schemas.ts';

export const ROUTING_CODE_KEY = /^[a-z0-9-]{1,40}$/;
export const ROUTING_CODE_VALUE_LENGTH_MAX = 34;
const ROUTING_CODES_MAX = 10;
/** An IBAN as people write it, in groups of four. */
export const IBAN_TEXT_LENGTH_MAX = 42;
export const ACCOUNT_NUMBER_LENGTH_MAX = 34;
const ERROR_CODE_LENGTH_MAX = 100;
const ERROR_TEXT_LENGTH_MAX = 1000;
const ERROR_ATTRIBUTES_MAX = 20;
const REFERENCE_LENGTH_MAX = 255;

const routingCodes = named(
  'RoutingCodes',
  map(ROUTING_CODE_KEY, text(ROUTING_CODE_VALUE_LENGTH_MAX), ROUTING_CODES_MAX),
);

/** Routing codes in answers: null if there are none. */
export const routingCodesShown = nullable(
  named('RoutingCodes', map(ROUTING_CODE_KEY, text(ROUTING_CODE_VALUE_LENGTH_MAX), 2 * ROUTING_CODES_MAX, 1)),
);

export const connectionError = named(
  'ConnectionError',
  fields({
    category: picklist(CONNECTION_ERROR_CATEGORIES),
    origin: picklist(CONNECTION_ERROR_ORIGINS),
    code: text(ERROR_CODE_LENGTH_MAX),
    message: text(ERROR_TEXT_LENGTH_MAX),
    attributes: map(/^.{1,100}$/, text(ERROR_TEXT_LENGTH_MAX), ERROR_ATTRIBUTES_MAX),
  }),
);

const reportedConnectionError = named(
  'ConnectionError',
  fields({
    ...connectionError.entries,
    attributes: clearable(connectionError.entries.attributes),
  }),
);

export const connectionShown = named(
  'Connection',
  fields({
    id: uuid(),
    method: named('ConnectMethod', picklist(CONNECT_METHODS)),
    serviceProvider: text(PROVIDER_CODE_LENGTH_MAX),
    reference: nullable(text(REFERENCE_LENGTH_MAX)),
    state: named('ConnectionState', picklist(CONNECTION_STATES)),
    status: nullable(named('ConnectionStatus', picklist(CONNECTION_STATUSES))),
    error: nullable(connectionError),
  }),
);

export const accountShown = named(
  'Account',
  fields({
    id: uuid<AccountId>(),
    clientId: uuid<ClientId>(),
    mainAccountId: nullable(uuid<AccountId>()),
    status: named('AccountStatus', picklist(ACCOUNT_STATUSES)),
    country: country(),
    currency: currency(),
    alias: text(ALIAS_LENGTH_MAX),
    routingCodes: routingCodesShown,
    iban: nullable(text(IBAN_TEXT_LENGTH_MAX)),
    accountNumber: nullable(text(ACCOUNT_NUMBER_LENGTH_MAX)),
    ledgerNumber: pattern(/^\d{12}$/, 'a ledger number'),
    availableBalance: amount(),
    receivableBalance: amount(),
    serviceProvider: nullable(text(PROVIDER_CODE_LENGTH_MAX)),
    accountHolderName: text(FULL_NAME_LENGTH_MAX),
    accountHolderIdentityType: picklist(['individual', 'corporate']),
    connection: nullable(connectionShown),
  }),
);

export const issuingWorkflow = {
  data: fields({
    account: named(
      'Account',
      fields({
        clientId: uuid<ClientId>(),
        currency: currency(),
        country: optional(country()),
        alias: optional(text(ALIAS_LENGTH_MAX)),
      }),
    ),
  }),
  connect: v.pipe(
    fields({
      method: optional(named('ConnectMethod', picklist(CONNECT_METHODS))),
      type: optional(picklist(['explicit', 'implicit'])),
      serviceProvider: optional(text(PROVIDER_CODE_LENGTH_MAX)),
    }),
    rejectConflicts(connectConflicts),
  ),
};

export const subAccountWorkflow = {
  data: fields({
    account: named(
      'SubAccount',
      fields({
        mainAccountId: uuid<AccountId>(),
        clientId: optional(uuid<ClientId>()),
        currency: optional(currency()),
        alias: optional(text(ALIAS_LENGTH_MAX)),
      }),
    ),
  }),
};

export const patchWorkflow = {
  data: fields({
    account: named(
      'Account',
      fields({
        alias: clearable(text(ALIAS_LENGTH_MAX)),
        status: optional(named('AccountStatus', picklist(ACCOUNT_STATUSES))),
        iban: clearable(text(IBAN_TEXT_LENGTH_MAX)),
        accountNumber: clearable(text(ACCOUNT_NUMBER_LENGTH_MAX)),
        routingCodes: clearable(routingCodes),
        connection: optional(
          named(
            'Connection',
            fields({
              id: optional(uuid<ConnectionId>()),
              reference: clearable(text(REFERENCE_LENGTH_MAX)),
              state: optional(named('ConnectionState', picklist(CONNECTION_STATES))),
              status: clearable(named('ConnectionStatus', picklist(CONNECTION_STATUSES))),
              error: clearable(reportedConnectionError),
            }),
          ),
        ),
      }),
    ),
  }),
};

export const CONNECTION_EXAMPLE = {
  id: '019a9f3c-6b1e-7c54-9d0a-2f6d3b0c7e11',
  method: 'built-in',
  serviceProvider: 'sandbox-bank',
  reference: 'SB-ACC-000017',
  state: 'completed-up-to-date',
  status: 'active',
  error: null,
};

export const ACCOUNT_EXAMPLE = {
  id: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20',
  clientId: '019a9f3b-11aa-7b7e-bd4c-6d0e7f3a2c10',
  mainAccountId: null,
  status: 'active',
  country: 'GB',
  currency: 'GBP',
  alias: 'GBP Account',
  routingCodes: { 'sort-code': '040668', bic: 'SBXBGB2LXXX' },
  iban: 'GB29NWBK60161331926819',
  accountNumber: '31926819',
  ledgerNumber: '000000000185',
  availableBalance: 250.5,
  receivableBalance: 0,
  serviceProvider: 'sandbox-bank',
  accountHolderName: 'Ada Lovelace',
  accountHolderIdentityType: 'individual',
  connection: CONNECTION_EXAMPLE,
};

export const PENDING_ACCOUNT_EXAMPLE = {
  ...ACCOUNT_EXAMPLE,
  status: 'pending',
  routingCodes: null,
  iban: null,
  accountNumber: null,
  availableBalance: 0,
  connection: { ...CONNECTION_EXAMPLE, reference: null, state: 'creation-in-progress', status: null },
};

/** An instant as statements show it. */
export function dateTimeMsShown() {
  return pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}$/, 'a date-time with milliseconds');
}
