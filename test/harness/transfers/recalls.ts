import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Provider } from '../../../activities/providers/port.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { applyPaymentReport } from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import { applyRecallRejection } from '../../../db/outgoing-transfers/recalls.ts';
import { asId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { PaymentReport } from '../../../domain/outgoing-transfers/reports.ts';
import type { Json, TestApi } from '../api.ts';
import { builtInAccounts } from '../built-in-accounts.ts';
import { externalTransfer, transferOf } from '../faults/load/orders.ts';
import { moneyWorld } from '../money.ts';

const BANK = 'sandbox-bank';

/** A fictitious bank that takes recalls: tests write its reports to the database. */
export function absentBank(): ReadonlyMap<string, Provider> {
  return new Map([[BANK, createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'unused' })]]);
}

export interface RecallWorld {
  /** A payment of 10 pounds that the bank has released. */
  released(clientId: string): Promise<string>;
  reported(id: string, report: Pick<PaymentReport, 'outcome' | 'claim'>): Promise<void>;
  recall(id: string): Promise<{ readonly status: number; readonly body: Json }>;
  /** The bank's rejection of the recall of this number. */
  rejected(id: string, number: number): Promise<'applied' | 'no-effect' | 'break'>;
}

/** For an API with the fictitious bank. */
export function recallWorld(api: TestApi): RecallWorld {
  const world = moneyWorld(api);
  const builtIn = builtInAccounts(api);
  const paymentOf = (id: string) => ({ id: asId<OutgoingTransferId>(id), provider: BANK });
  const reported: RecallWorld['reported'] = async (id, report) => {
    const said = { serviceProviderId: 'p-1', serviceProviderReference: null, code: null, ...report };
    const { configuration } = api.services;
    const outcome = await api.database.transaction((tx) => applyPaymentReport(tx, paymentOf(id), said, configuration));
    expect(outcome).toBe('applied');
  };
  return {
    reported,
    released: async (clientId) => {
      const account = await builtIn.opened(clientId);
      await builtIn.payIn(account, randomUUID(), 10_000n);
      const money = { clientId, currency: 'GBP', amount: 10, from: account.id };
      const { path, body } = transferOf(externalTransfer(money, 'faster-payments', await world.beneficiary(clientId)));
      const answer = await api.call('POST', path, body);
      expect(answer.status, answer.text).toBe(201);
      const { id } = answer.body.data.outgoingTransfer;
      await reported(id, { outcome: 'released' });
      return id;
    },
    recall: (id) => api.call('POST', `/outgoing-transfers/${id}/recall`, { workflow: { code: 'direct' }, data: {} }),
    rejected: (id, number) =>
      api.database.transaction((tx) => applyRecallRejection(tx, paymentOf(id), number, api.services.configuration)),
  };
}
