import * as v from 'valibot';
import { findAccount } from '../../db/accounts/reads.ts';
import { depositInformation } from '../../domain/accounts/deposit-information.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { FULL_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { offerOf } from '../../domain/providers/providers.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { country, currency, fields, map, nullable, text, uuid } from '../http/schemas/schemas.ts';
import { ACCOUNT_NUMBER_LENGTH_MAX, IBAN_TEXT_LENGTH_MAX, ROUTING_CODE_KEY, routingCodesShown } from './schemas.ts';

/** The limit of configured text. */
const BANK_NAME_LENGTH_MAX = 200;
const BANK_ADDRESS_LENGTH_MAX = 350;
const REFERENCE_LENGTH_MAX = 140;
const SCHEMES_MAX = 20;

const details = {
  accountHolderName: text(FULL_NAME_LENGTH_MAX),
  country: country(),
  currency: currency(),
  routingCodes: routingCodesShown,
  accountNumber: nullable(text(ACCOUNT_NUMBER_LENGTH_MAX)),
  iban: nullable(text(IBAN_TEXT_LENGTH_MAX)),
  ledgerNumber: nullable(text(20)),
  reference: nullable(text(REFERENCE_LENGTH_MAX)),
  bankName: nullable(text(BANK_NAME_LENGTH_MAX)),
  bankAddress: nullable(text(BANK_ADDRESS_LENGTH_MAX)),
};

const depositDetailsShown = named(
  'DepositInformation',
  fields({
    ...details,
    intermediaryAccount: nullable(named('IntermediaryAccount', fields({ ...details, intermediaryAccount: v.null() }))),
  }),
);

const DETAILS_EXAMPLE = {
  accountHolderName: 'Ada Lovelace',
  country: 'GB',
  currency: 'GBP',
  routingCodes: null,
  accountNumber: null,
  iban: null,
  ledgerNumber: null,
  reference: null,
  bankName: null,
  bankAddress: null,
  intermediaryAccount: null,
};

const getDepositInformation = route(
  {
    method: 'GET',
    path: '/accounts/{id}/deposit-information',
    operationId: 'getDepositInformation',
    summary: 'Get the details for paying into an account',
    description:
      'One entry for each scheme that can pay into the account, always including `internal`. `intermediaryAccount`, only for `swift`: the correspondent bank through which the provider’s bank is reached, and the account of the provider’s bank there, which has no further intermediary. `reference`: what the payer must quote if several accounts share these details, which is the ledger number of a sub-account, or of any account of a pooled offer.',
    tag: 'Accounts',
    params: { id: uuid<AccountId>() },
    response: fields({ depositInformation: map(ROUTING_CODE_KEY, depositDetailsShown, SCHEMES_MAX) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      response: {
        depositInformation: {
          'faster-payments': {
            ...DETAILS_EXAMPLE,
            routingCodes: { 'sort-code': '040668' },
            accountNumber: '31926819',
            bankName: 'Sandbox Bank plc',
            bankAddress: '1 Sandbox Street, London EC2V 7AA, United Kingdom',
          },
          swift: {
            ...DETAILS_EXAMPLE,
            routingCodes: { bic: 'SBNKGB2L' },
            iban: 'GB29NWBK60161331926819',
            bankName: 'Sandbox Bank plc',
            bankAddress: '1 Sandbox Street, London EC2V 7AA, United Kingdom',
            intermediaryAccount: {
              ...DETAILS_EXAMPLE,
              accountHolderName: 'Sandbox Bank plc',
              routingCodes: { bic: 'SBXCGB2L' },
              accountNumber: '8900627301',
              bankName: 'Sandbox Correspondent Bank plc',
              bankAddress: '6 Sandbox Street, London EC2V 7AA, United Kingdom',
            },
          },
          internal: { ...DETAILS_EXAMPLE, ledgerNumber: '000000000185' },
        },
      },
    },
  },
  async ({ params, services }) => {
    const { configuration, database } = services;
    const account = await findAccount(database.reader, params.id);
    if (account === null) throw recordNotFound('account', 'id', params.id);
    const main = account.mainAccountId === null ? null : await findAccount(database.reader, account.mainAccountId);
    const offer = offerOf(account, configuration.providers);
    return { data: { depositInformation: depositInformation(account, main, offer, configuration.schemes) } };
  },
);

export const depositInformationRoutes = [getDepositInformation] as const;
