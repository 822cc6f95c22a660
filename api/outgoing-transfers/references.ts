import { findAccount, findAccountWithTime } from '../../db/accounts/reads.ts';
import type { Reader } from '../../db/query/database.ts';
import type { Account } from '../../domain/accounts/accounts.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { transferReasons } from '../../domain/outgoing-transfers/requests/transfer-reasons.ts';
import { offerOf, offersScheme, outgoingSchemes } from '../../domain/providers/providers.ts';
import { INTERNAL_SCHEME } from '../../domain/providers/schemes.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { country, date, fields, list, nullable, pattern, picklist, text, uuid } from '../http/schemas/schemas.ts';

/** Reference data for creating outgoing transfers (specification 4.8). */
const TAG = 'Outgoing transfers';
const SCHEME_CODE = /^[a-z0-9-]{1,40}$/;
const SCHEMES_MAX = 50;
const REASONS_MAX = 100;
const DAYS_MAX = 366;
const accountId = uuid<AccountId>();

async function requireAccount(reader: Reader, id: AccountId): Promise<Account> {
  const account = await findAccount(reader, id);
  if (account === null) throw recordNotFound('account', 'id', id);
  return account;
}

const getTransferSchemes = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}',
    operationId: 'listOutgoingTransferSchemes',
    summary: 'List the schemes that can pay from an account to a country',
    tag: TAG,
    params: { accountId, destinationCountry: country() },
    response: fields({ transferSchemes: list(pattern(SCHEME_CODE, 'a scheme code'), 0, SCHEMES_MAX) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { transferSchemes: ['faster-payments', 'chaps', 'swift'] } },
  },
  async ({ params, services }) => {
    const { configuration, database } = services;
    const account = await requireAccount(database.reader, params.accountId);
    const offer = offerOf(account, configuration.providers);
    const payment = { currency: account.currency, destinationCountry: params.destinationCountry };
    const transferSchemes = offer === null ? [] : outgoingSchemes(offer, payment, configuration.schemes);
    return { data: { transferSchemes } };
  },
);

const reasonsShown = fields({
  transferReasons: list(named('TransferReason', fields({ id: uuid(), description: text(140) })), 0, REASONS_MAX),
});
const REASONS_EXAMPLE = {
  transferReasons: [{ id: '22a44cc8-b2c6-555a-87be-ad49f61e0340', description: 'Trade Settlement for Goods' }],
};

function reasonsOf(of: string) {
  return { data: { transferReasons: transferReasons(of).map(({ id, description }) => ({ id, description })) } };
}

const getAccountTransferReasons = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}/transfer-reasons/{country}',
    operationId: 'listAccountTransferReasons',
    summary: 'List the reasons for transfers from an account to a country',
    description: 'Empty if the country requires none.',
    tag: TAG,
    params: { accountId, country: country() },
    response: reasonsShown,
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: REASONS_EXAMPLE },
  },
  async ({ params, services }) => {
    await requireAccount(services.database.reader, params.accountId);
    return reasonsOf(params.country);
  },
);

const getTransferReasons = route(
  {
    method: 'GET',
    path: '/transfer-reasons/{country}',
    operationId: 'listTransferReasons',
    summary: 'List the reasons for transfers to a country',
    description: 'Use the reasons of an account instead.',
    tag: TAG,
    deprecated: { since: '2023-06-01' },
    params: { country: country() },
    response: reasonsShown,
    examples: { response: REASONS_EXAMPLE },
  },
  async ({ params }) => reasonsOf(params.country),
);

const getTransferDateMetadata = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}',
    operationId: 'getOutgoingTransferDateMetadata',
    summary: 'Get the dates on which a transfer can be released',
    description:
      'Dates are in the scheme’s own time zone; the cut-off is in UTC. A scheme that never closes has no cut-off and no unavailable dates. For internal transfers use `internal/internal`.',
    tag: TAG,
    params: {
      accountId,
      transferScope: picklist(['internal', 'external']),
      transferScheme: pattern(SCHEME_CODE, 'a scheme code'),
    },
    response: fields({
      nextAvailableDate: date(),
      nextCutoffDateTime: nullable(pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/, 'a date-time')),
      unavailableDates: list(date(), 0, DAYS_MAX),
    }),
    errors: ['common.coding.internal.record_not_found', 'transfer.scheme.unavailable'],
    examples: {
      response: {
        nextAvailableDate: '2026-11-23',
        nextCutoffDateTime: '2026-11-23T17:00:00',
        unavailableDates: ['2026-11-21', '2026-11-22'],
      },
    },
  },
  async ({ params, services }) => {
    const { configuration, database } = services;
    const account = await findAccountWithTime(database.reader, params.accountId);
    if (account === null) throw recordNotFound('account', 'id', params.accountId);
    const { now } = account;
    const of = { scheme: params.transferScheme, currency: account.currency };
    rejectScheme(params.transferScope, of.scheme);
    const offer = offerOf(account, configuration.providers);
    const { schemes } = configuration;
    const internal = of.scheme === INTERNAL_SCHEME;
    if (!internal && (offer === null || !offersScheme(offer, of) || !schemes.carries(of))) {
      const message = `${account.provider} does not offer ${of.scheme} in ${account.currency}.`;
      throw rejection('transfer.scheme.unavailable', ['outgoingTransfer', 'scheme', of.scheme], message);
    }
    return {
      data: {
        nextAvailableDate: schemes.nextAvailableDate(of, now),
        nextCutoffDateTime: dateTimeOrNull(schemes.nextCutOff(of, now)),
        unavailableDates: schemes.unavailableDates(of, now),
      },
    };
  },
);

function rejectScheme(scope: 'internal' | 'external', scheme: string): void {
  if ((scope === 'internal') === (scheme === INTERNAL_SCHEME)) return;
  const message = `The scheme ${scheme} does not carry transfers of scope ${scope}.`;
  throw rejection('common.validation.field_invalid', ['path', 'transferScheme', scheme], message);
}

function dateTimeOrNull(instant: Date | null): string | null {
  return instant === null ? null : formatDateTime(instant);
}

export const outgoingTransferReferenceRoutes = [
  getTransferSchemes,
  getAccountTransferReasons,
  getTransferReasons,
  getTransferDateMetadata,
] as const;
