import { lookUpCompleted } from '../../cli/operations/transfers/completed-payments.ts';
import { outgoingTransfers } from '../../db/common/schema.ts';
import { lookUpIn } from '../../db/query/rows.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { isSettledAtProvider } from '../../domain/outgoing-transfers/look-ups.ts';
import type { Outcome, Remedy } from '../remedies/remedy.ts';

const TRANSFER = lookUpIn(outgoingTransfers);

const STATES: Readonly<Record<string, Outcome['state']>> = {
  'no-answer': 'unknown',
  'not-found': 'unchanged',
  'no-news': 'unchanged',
};

function withoutProvider(provider: string): string {
  return `${provider} is no provider of this configuration.`;
}

/** A completed payment has no workflow left that could ask: the console asks the bank itself, and books what has come back. */
export const completedLookUp: Remedy = {
  kind: 'look-up-returns',
  label: 'Look up returns',
  resource: 'outgoing-transfer',
  page: '/outgoing-transfers/:id',
  roles: ['operator'],
  movesMoney: true,
  async preview({ services, params }) {
    const transfer = await services.database.reader.find(TRANSFER, params.id ?? '');
    if (transfer === null) return null;
    const { provider, transactionNumber } = transfer;
    const unavailable = !isSettledAtProvider(transfer)
      ? 'Only for a completed payment at a bank.'
      : services.providers.has(provider)
        ? null
        : withoutProvider(provider);
    return {
      title: `Look up returns of ${transactionNumber}`,
      consequences: [
        `${provider} is asked now what became of this completed payment. What has come back is booked; nothing else changes.`,
      ],
      ...(unavailable === null ? {} : { unavailable }),
    };
  },
  async act({ services, params }, _, initiator) {
    const { database, providers, configuration: rules } = services;
    const present = await database.reader.find(TRANSFER, asId<OutgoingTransferId>(params.id ?? ''));
    if (present === null || !isSettledAtProvider(present)) {
      return { state: 'unchanged', text: 'It is not a completed payment at a bank.' };
    }
    if (!providers.has(present.provider)) {
      const parameters = ['outgoingTransfer', 'provider', present.provider] as const;
      throw rejection('common.state.illegal_transition', parameters, withoutProvider(present.provider));
    }
    const { result, text } = await lookUpCompleted({ database, providers, rules }, present, initiator);
    return { state: STATES[result] ?? 'done', text };
  },
};
