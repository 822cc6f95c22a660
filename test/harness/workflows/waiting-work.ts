import { sql } from 'drizzle-orm';
import { ProviderUnavailable } from '../../../activities/providers/port.ts';
import { createAccount } from '../../../db/accounts/creation.ts';
import { wake } from '../../../db/common/workflow-wakeups.ts';
import { applyPaymentReport } from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import { authorization } from '../../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../../db/transfers/requested-changes.ts';
import { changeUserInvitation, inviteUser } from '../../../db/users/invitations.ts';
import type { OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { NewOutgoingTransfer } from '../../../domain/outgoing-transfers/rows.ts';
import { TASK_QUEUES, workflowId } from '../../../workflows/common/messages.ts';
import { TESTER } from '../audit.ts';
import { credit, type Stage, until } from '../stage.ts';
import { type Receiver, recordEvents, subscribe } from '../webhooks/webhooks.ts';
import { acceptedPayment, completedPayment } from './scripted-provider.ts';
import { arrival, describe, ended, reviewed, setStatus, waits } from './stories.ts';

/** A stage with what the waits need in addition. */
export interface WaitingStage extends Stage {
  readonly receiver: Receiver;
  /** References of payments, and clients, that the bank leaves without an answer. */
  readonly silent: Set<string>;
  /** References of payments that the bank took and whose end it does not report. */
  readonly unreported: Set<string>;
}

/** A workflow that waits, and what ends the wait. `finish` resolves when the workflow has done all that it is there for. */
export interface Waiting {
  readonly workflow: string;
  finish(): Promise<void>;
}

/** Every kind of wait. Each begins one workflow and resolves when it waits. */
export const WAITING_WORK: Readonly<Record<string, (stage: WaitingStage) => Promise<Waiting>>> = {
  'outgoing transfer: authorization': async (stage) => {
    const { id, workflow } = await payment(stage, { authorizationStatus: 'not-checked' });
    await waits(stage, workflow);
    return paid(stage, id, () =>
      stage.database.transaction((tx) =>
        changeUnderLocks(tx, authorization({ id, initiator: TESTER, rules: stage.configuration })),
      ),
    );
  },

  'outgoing transfer: review': async (stage) => {
    const { id, workflow } = await payment(stage, { complianceCheckStatus: 'not-checked' });
    await waits(stage, workflow);
    return paid(stage, id, () => reviewed(stage, workflow));
  },

  'outgoing transfer: date': async (stage) => {
    const transferDate = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    const { id, workflow } = await payment(stage, { transferDate });
    await waits(stage, workflow);
    return paid(stage, id, async () => {
      await stage.database.reader.execute(
        sql`UPDATE outgoing_transfers SET transfer_date = service_now()::date WHERE id = ${id}`,
      );
      await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflow));
    });
  },

  'outgoing transfer: balance': async (stage) => {
    const account = await stage.account(0n);
    const id = await stage.transfer(account);
    await waits(stage, workflowId('outgoing-transfer', id));
    return paid(stage, id, () => credit(stage.database, account.id, 5_000n));
  },

  'outgoing transfer: a bank that does not answer': async (stage) => {
    const { id, workflow } = await payment(stage, { authorizationStatus: 'not-checked' });
    stage.silent.add(id);
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, authorization({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await triesAgain(stage, workflow);
    return paid(stage, id, async () => stage.silent.delete(id));
  },

  'outgoing transfer: a bank that does not report the end': async (stage) => {
    const { id, workflow } = await payment(stage, { authorizationStatus: 'not-checked' });
    stage.unreported.add(id);
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, authorization({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await until(
      async () => (await describe(stage, workflow))?.typedSearchAttributes.getAll() ?? [],
      (attributes) => attributes.some(({ key, value }) => key.name === 'WaitingFor' && value === 'provider'),
    );
    const report = {
      outcome: 'completed',
      serviceProviderId: `p-${id}`,
      serviceProviderReference: null,
      code: null,
    } as const;
    return paid(stage, id, () =>
      stage.database.transaction((tx) =>
        applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report, stage.configuration),
      ),
    );
  },

  'incoming transfer: review': async (stage) => {
    const { id: accountId } = await stage.account(0n);
    const workflow = workflowId('incoming-transfer', await arrival(stage, accountId, 'active', true));
    await waits(stage, workflow);
    return ending(stage, workflow, () => reviewed(stage, workflow));
  },

  'incoming transfer: an account that is not active': async (stage) => {
    const { id: accountId } = await stage.account(0n);
    const workflow = workflowId('incoming-transfer', await arrival(stage, accountId, 'inactive'));
    await waits(stage, workflow);
    return ending(stage, workflow, async () => {
      await setStatus(stage, accountId, 'active');
      await stage.database.transaction(async (tx) => wake(tx, 'incoming-transfer', workflow));
    });
  },

  'account connection': async (stage) => {
    const { clientId } = await stage.account(0n);
    stage.silent.add(clientId);
    const place = { provider: 'sandbox-bank', country: 'GB', currency: 'GBP' } as const;
    const wanted = { clientId, method: 'built-in', ...place, alias: 'GBP Account' } as const;
    const { id } = await stage.database.transaction((tx) => createAccount(tx, wanted, TESTER));
    const workflow = workflowId('account-connection', id);
    await triesAgain(stage, workflow);
    return ending(stage, workflow, async () => stage.silent.delete(clientId));
  },

  'user invitation': async (stage) => {
    const { clientId } = await stage.account(0n);
    const email = `ann.${crypto.randomUUID()}@example.com`;
    const identity = { type: 'individual', givenName: 'Ann', familyName: 'Example', birthDate: null } as const;
    const invitations = [{ clientId, userClientRelation: 'director' }] as const;
    const [invited] = await stage.database.transaction((tx) =>
      inviteUser(tx, { email, identity, invitations }, TESTER),
    );
    if (invited === undefined) throw new Error('no invitation was created');
    const workflow = workflowId('user-invitation', invited.signUpId);
    await triesAgain(stage, workflow);
    return ending(stage, workflow, () =>
      stage.database.transaction((tx) => changeUserInvitation(tx, email, invited.id, 'cancelled', TESTER)),
    );
  },

  'webhook delivery': async (stage) => {
    const { shard } = await subscribe(stage.database, stage.receiver.url);
    const { clientId } = await stage.account(0n);
    const delivered = async () => {
      const { length } = stage.receiver.received;
      await recordEvents(stage.database, clientId);
      await until(
        async () => stage.receiver.received.slice(length),
        (received) => received.some(({ body }) => body.data.client?.id === clientId),
      );
    };
    await delivered();
    return { workflow: workflowId('webhook-delivery', String(shard)), finish: delivered };
  },

  housekeeping: async (stage) => {
    // Its first task fails twice at most, within fifteen seconds; after the third the workflow would continue without it.
    await stage.testDatabase.asOwner('ALTER TABLE ledger_checks RENAME TO ledger_checks_away');
    const workflow = `housekeeping-${crypto.randomUUID()}`;
    await stage.client.workflow.start('housekeeping', { taskQueue: TASK_QUEUES.workflows, workflowId: workflow });
    await triesAgain(stage, workflow);
    return ending(stage, workflow, async () => {
      await stage.testDatabase.asOwner('ALTER TABLE ledger_checks_away RENAME TO ledger_checks');
    });
  },
};

/** Makes the bank of a stage keep silent where its kinds of wait need that. */
export function keepSilent({ provider, silent, unreported }: WaitingStage): void {
  const { connectClient } = provider;
  provider.answer.submit = async ({ ourReference }) => {
    if (silent.has(ourReference)) throw new ProviderUnavailable('sandbox-bank', 'timeout');
    return unreported.has(ourReference) ? acceptedPayment(ourReference) : completedPayment(ourReference);
  };
  provider.answer.lookUp = async (ourReference) =>
    unreported.has(ourReference) ? acceptedPayment(ourReference) : completedPayment(ourReference);
  provider.connectClient = async (request, call) => {
    if (silent.has(request.clientId)) throw new ProviderUnavailable('sandbox-bank', 'timeout');
    return connectClient(request, call);
  };
}

async function payment(
  stage: Stage,
  change: Partial<NewOutgoingTransfer>,
): Promise<{ id: OutgoingTransferId; workflow: string }> {
  const id = await stage.transfer(await stage.account(5_000n), change);
  return { id, workflow: workflowId('outgoing-transfer', id) };
}

function ending(stage: Stage, workflow: string, endWait: () => Promise<unknown>): Waiting {
  const finish = async (): Promise<void> => {
    await endWait();
    await ended(stage, workflow);
  };
  return { workflow, finish };
}

/** As `ending`; the bank has then paid once. */
function paid(stage: Stage, id: OutgoingTransferId, endWait: () => Promise<unknown>): Waiting {
  const { workflow, finish } = ending(stage, workflowId('outgoing-transfer', id), endWait);
  return {
    workflow,
    finish: async () => {
      await finish();
      const { status } = await stage.find(id);
      if (status !== 'completed') throw new Error(`${workflow} ended with its transfer ${status}`);
    },
  };
}

/** Waits until the workflow's call to the outside has failed, so that it is Temporal who waits with the next. */
async function triesAgain(stage: Stage, workflow: string): Promise<void> {
  await until(
    async () => (await describe(stage, workflow))?.raw.pendingActivities ?? [],
    (pending) => pending.some(({ attempt, lastFailure }) => (attempt ?? 0) > 1 && lastFailure != null),
  );
}
