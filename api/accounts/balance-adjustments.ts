import { adjustBalance } from '../../db/accounts/balance-adjustments.ts';
import {
  BALANCE_ADJUSTMENT_DIRECTIONS,
  brokenNamingRule,
  CORRECTION_TRANSACTION_TYPES,
  CORRECTION_TYPES,
  presentBalanceAdjustment,
  UNCONNECTED_SERVICE_PROVIDER,
} from '../../domain/accounts/balance-adjustments.ts';
import type { AccountId, BalanceAdjustmentId } from '../../domain/common/ids.ts';
import { DESCRIPTION_LENGTH_MAX, NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { problem } from '../http/requests/problems.ts';
import { route } from '../http/route.ts';
import { isSent, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { only } from '../http/schemas/one-of.ts';
import {
  amount,
  currency,
  fields,
  moneyFields,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

const direction = named('BalanceAdjustmentDirection', picklist(BALANCE_ADJUSTMENT_DIRECTIONS));

const sentFields = {
  accountId: uuid<AccountId>(),
  direction,
  amount: amount(),
  currency: currency(),
  description: optional(text(DESCRIPTION_LENGTH_MAX)),
};

const correction = {
  workflow: {
    type: picklist(CORRECTION_TYPES),
    transactionType: picklist(CORRECTION_TRANSACTION_TYPES),
  },
  data: fields({
    balanceAdjustment: named(
      'BalanceCorrection',
      moneyFields({ ...sentFields, unconnectedServiceProvider: optional(text(NAME_LENGTH_MAX)) }),
    ),
  }),
  across: ({ transactionType }: Sent, { balanceAdjustment }: Sent) => {
    if (!isSent(balanceAdjustment)) return [];
    const { unconnectedServiceProvider: name } = balanceAdjustment;
    const broken = brokenNamingRule(transactionType, name);
    if (broken === null) return [];
    return [problem(broken.code, ['data', 'balanceAdjustment', 'unconnectedServiceProvider'], name, broken.rule)];
  },
};

const synchronization = {
  workflow: { type: only(UNCONNECTED_SERVICE_PROVIDER) },
  data: fields({
    balanceAdjustment: named(
      'BalanceSynchronization',
      moneyFields({ ...sentFields, unconnectedServiceProvider: text(NAME_LENGTH_MAX) }),
    ),
  }),
};

const balanceAdjustmentShown = named(
  'BalanceAdjustment',
  fields({
    id: uuid<BalanceAdjustmentId>(),
    accountId: uuid<AccountId>(),
    direction,
    transactionNumber: pattern(/^\d{8}-[0-9A-Z]{6}$/, 'a transaction number'),
    amount: amount(),
    currency: currency(),
    description: nullable(text(DESCRIPTION_LENGTH_MAX)),
    unconnectedServiceProvider: nullable(text(NAME_LENGTH_MAX)),
  }),
);

const SENT_EXAMPLE = {
  accountId: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20',
  direction: 'credit',
  amount: 2.5,
  currency: 'GBP',
  description: 'Fee of 20 November, charged twice',
};

const postBalanceAdjustment = route(
  {
    method: 'POST',
    path: '/accounts/{id}/balance-adjustments',
    operationId: 'createBalanceAdjustment',
    summary: 'Correct or synchronize a balance',
    description:
      'Deprecated in favour of generic transactions, which this release does not offer yet. The adjustment is posted immediately, as one statement entry, and never makes a balance negative. A `correction` of a `fee` counts as fee revenue and is included in the next fee sweep; an `unknown` correction is not passed on to the provider. A `synchronization` records a transaction that happened outside the service. `unconnectedServiceProvider` is required with the type or transaction type `unconnected-service-provider` and rejected otherwise.',
    tag: 'Accounts',
    deprecated: { since: '2023-06-01' },
    roles: ['admin'],
    params: { id: uuid<AccountId>() },
    workflows: { correction, synchronization },
    response: fields({ balanceAdjustment: balanceAdjustmentShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'account.currency.mismatch',
      'account.status.not_active',
      'account.balance.insufficient',
    ],
    examples: {
      requests: {
        correction: {
          workflow: { type: 'fee', transactionType: 'incoming-transfer' },
          data: { balanceAdjustment: SENT_EXAMPLE },
        },
        synchronization: {
          workflow: { type: UNCONNECTED_SERVICE_PROVIDER },
          data: {
            balanceAdjustment: {
              ...SENT_EXAMPLE,
              description: 'Card payment of 19 November',
              unconnectedServiceProvider: 'card-processor',
            },
          },
        },
      },
      response: {
        balanceAdjustment: {
          ...SENT_EXAMPLE,
          id: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31',
          transactionNumber: '20261121-Y4K7QZ',
          unconnectedServiceProvider: null,
        },
      },
    },
  },
  async ({ params, body, initiator, transaction }) => {
    const { description = null, unconnectedServiceProvider = null, ...sent } = body.data.balanceAdjustment;
    const request = { ...sent, description, unconnectedServiceProvider, workflow: body.workflow };
    return transaction(async (tx) => {
      const adjustment = await adjustBalance(tx, params.id, request, initiator);
      return { data: { balanceAdjustment: presentBalanceAdjustment(adjustment) } };
    });
  },
);

export const balanceAdjustmentRoutes = [postBalanceAdjustment] as const;
