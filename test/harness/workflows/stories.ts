import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { ProviderUnavailable } from '../../../activities/providers/port.ts';
import { patchAccount } from '../../../db/accounts/accounts.ts';
import { createAccount } from '../../../db/accounts/creation.ts';
import { wake } from '../../../db/common/workflow-wakeups.ts';
import { createIncomingTransfer } from '../../../db/incoming-transfers/work.ts';
import { lockAccounts } from '../../../db/ledger/ledger.ts';
import { applyPaymentReport } from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import { authorization } from '../../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../../db/transfers/requested-changes.ts';
import { changeUserInvitation, inviteUser } from '../../../db/users/invitations.ts';
import type { AccountId, ClientId, IncomingTransferId } from '../../../domain/common/ids.ts';
import { COMPLIANCE_DECISION_SIGNAL, workflowId } from '../../../workflows/common/messages.ts';
import { TESTER } from '../audit.ts';
import { type Stage, until } from '../stage.ts';
import { acceptedPayment, completedPayment } from './scripted-provider.ts';
import { stagedConsent } from './staged-consents.ts';

/**
 * Each runs one workflow from its first wake-up to its end, or to its wait if it never ends, and returns its id.
 * Their histories are recorded for every release and replayed in every later one.
 */
export const STORIES: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'outgoing-transfer-completed': async (stage) => {
    const id = await stage.transfer(await stage.account(5_000n));
    return ended(stage, workflowId('outgoing-transfer', id));
  },

  'outgoing-transfer-authorized-late': async (stage) => {
    const account = await stage.account(5_000n);
    const id = await stage.transfer(account, { authorizationStatus: 'not-checked', scheme: 'chaps' });
    const workflow = workflowId('outgoing-transfer', id);
    await waits(stage, workflow);
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, authorization({ id, initiator: TESTER, rules: stage.configuration })),
    );
    // On a closed day it waits for its date now.
    await stage.database.reader.execute(
      sql`UPDATE outgoing_transfers SET scheme = 'faster-payments', transfer_date = service_now()::date WHERE id = ${id}`,
    );
    await stage.database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflow));
    return ended(stage, workflow);
  },

  'outgoing-transfer-called-back': async (stage) => {
    const account = await stage.account(5_000n);
    stage.provider.answer.submit = async ({ ourReference }) => acceptedPayment(ourReference);
    const id = await stage.transfer(account);
    const workflow = workflowId('outgoing-transfer', id);
    await waits(stage, workflow);
    const report = {
      outcome: 'completed',
      serviceProviderId: 'p',
      serviceProviderReference: null,
      code: null,
    } as const;
    const transfer = { id, provider: 'sandbox-bank' };
    await stage.database.transaction((tx) => applyPaymentReport(tx, transfer, report, stage.configuration));
    return ended(stage, workflow);
  },

  'outgoing-transfer-looked-up': async (stage) => {
    stage.provider.answer.submit = async ({ ourReference }) => acceptedPayment(ourReference);
    const id = await stage.transfer(await stage.account(5_000n));
    return ended(stage, workflowId('outgoing-transfer', id));
  },

  'outgoing-transfer-submitted-again': async (stage) => {
    let calls = 0;
    stage.provider.answer.submit = async ({ ourReference }) => {
      calls += 1;
      if (calls === 1) throw new ProviderUnavailable('sandbox-bank', 'timeout');
      return completedPayment(ourReference);
    };
    const id = await stage.transfer(await stage.account(5_000n));
    return ended(stage, workflowId('outgoing-transfer', id));
  },

  'outgoing-transfer-locked-out': async (stage) => {
    // The account stays locked for longer than two attempts: the workflow sleeps durably and continues.
    const account = await stage.account(5_000n);
    const id = await stage.transfer(account, { authorizationStatus: 'not-checked' });
    const workflow = workflowId('outgoing-transfer', id);
    await waits(stage, workflow);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = stage.database.transaction(async (tx) => {
      await tx.execute(sql`SELECT id FROM accounts WHERE id = ${account.id} FOR UPDATE`);
      await held;
    });
    await stage.client.workflow.getHandle(workflow).signal('changed');
    await hasTimerOfPause(stage, workflow);
    release();
    await holding;
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, authorization({ id, initiator: TESTER, rules: stage.configuration })),
    );
    return ended(stage, workflow);
  },

  'outgoing-transfer-reviewed': async (stage) => {
    const id = await stage.transfer(await stage.account(5_000n), { complianceCheckStatus: 'not-checked' });
    return reviewed(stage, workflowId('outgoing-transfer', id));
  },

  'incoming-transfer-reviewed': async (stage) => {
    const { id: accountId } = await stage.account(0n);
    const id = await arrival(stage, accountId, 'active', true);
    return reviewed(stage, workflowId('incoming-transfer', id));
  },

  'outgoing-transfer-screened': async (stage) => {
    const id = await stage.transfer(await stage.account(5_000n), { complianceCheckStatus: 'not-checked' });
    return ended(stage, workflowId('outgoing-transfer', id));
  },

  'incoming-transfer-screened': async (stage) => {
    const { id: accountId } = await stage.account(0n);
    return ended(stage, workflowId('incoming-transfer', await arrival(stage, accountId, 'active', true)));
  },

  'incoming-transfer-held': async (stage) => {
    const account = await stage.account(0n);
    const id = await arrival(stage, account.id, 'inactive');
    const workflow = workflowId('incoming-transfer', id);
    await waits(stage, workflow);
    await setStatus(stage, account.id, 'active');
    await stage.database.transaction(async (tx) => wake(tx, 'incoming-transfer', workflow));
    return ended(stage, workflow);
  },

  'incoming-transfer-sent-back': async (stage) => {
    const account = await stage.account(0n);
    const id = await arrival(stage, account.id, 'closed');
    return ended(stage, workflowId('incoming-transfer', id));
  },

  'account-connection-opened': async (stage) => {
    const id = await openAccount(stage);
    return ended(stage, workflowId('account-connection', id));
  },

  'account-connection-closed': async (stage) => {
    const id = await openAccount(stage);
    const workflow = workflowId('account-connection', id);
    await ended(stage, workflow);
    await stage.database.transaction((tx) => patchAccount(tx, id, { status: 'closed' }, TESTER));
    await until(
      () => statusOf(stage, id),
      (status) => status === 'closed',
    );
    return ended(stage, workflow);
  },

  'user-invitation-cancelled': async (stage) => {
    // No mail server accepts the e-mail before the caller cancels; the next attempt finds it obsolete.
    const { clientId } = await stage.account(0n);
    const email = `ann.${crypto.randomUUID()}@example.com`;
    const identity = { type: 'individual', givenName: 'Ann', familyName: 'Example', birthDate: null } as const;
    const invitations = [{ clientId, userClientRelation: 'director' }] as const;
    const [invited] = await stage.database.transaction((tx) =>
      inviteUser(tx, { email, identity, invitations }, TESTER),
    );
    if (invited === undefined) throw new Error('no invitation was created');
    const workflow = workflowId('user-invitation', invited.signUpId);
    await until(
      async () => ((await describe(stage, workflow))?.raw.pendingActivities ?? []).length,
      (pending) => pending > 0,
    );
    await stage.database.transaction((tx) => changeUserInvitation(tx, email, invited.id, 'cancelled', TESTER));
    return ended(stage, workflow);
  },

  housekeeping: (stage) => scheduled(stage, 'housekeeping'),

  reconciliation: (stage) => scheduled(stage, 'reconciliation'),

  'consent-revoked': async (stage) => {
    const consent = await stagedConsent(stage);
    const workflow = workflowId('consent', consent.id);
    await waitsFor(stage, workflow, 'account-holder');
    await consent.approve();
    await waitsFor(stage, workflow, 'exchange');
    await consent.exchange();
    await waitsFor(stage, workflow, 'grant-expiry');
    await consent.revoke();
    return ended(stage, workflow);
  },

  'webhook-delivery-waiting': async (stage) => {
    const workflow = workflowId('webhook-delivery', '0');
    await stage.database.transaction(async (tx) => wake(tx, 'webhook-delivery', workflow));
    await until(
      async () => {
        if ((await describe(stage, workflow)) === undefined) return false;
        const { events } = await stage.client.workflow.getHandle(workflow).fetchHistory();
        return (events ?? []).some((event) => event.activityTaskCompletedEventAttributes != null);
      },
      (completed) => completed,
    );
    return workflow;
  },
};

/** The configuration file of a story's stage. Without a rule, the service's own reviews approve every transfer. */
export function configFileOf(story: string): { readonly configFile?: string } {
  return story.endsWith('-screened') ? { configFile: BUILT_IN_REVIEWS } : {};
}

const BUILT_IN_REVIEWS = fileURLToPath(new URL('../../fixtures/built-in-reviews.json', import.meta.url));

/** Signals what is no decision, a stop, the same stop again, and an approval. */
export async function reviewed(stage: Stage, workflow: string): Promise<string> {
  await waits(stage, workflow);
  const handle = stage.client.workflow.getHandle(workflow);
  const signal = (payload: unknown) => handle.signal(COMPLIANCE_DECISION_SIGNAL, payload);
  const decision = { decisionId: 'case-1', procedure: 'transaction-monitoring', actor: 'compliance-desk' };
  await signal({ ...decision, result: 'passed' });
  for (const _ of ['once', 'again']) await signal({ ...decision, result: 'hard-stop' });
  await signal({ ...decision, decisionId: 'case-2', result: 'hard-stop-accepted' });
  return ended(stage, workflow);
}

async function scheduled(stage: Stage, type: string): Promise<string> {
  await stage.client.schedule.getHandle(type).trigger();
  const found = await until(
    async () => {
      const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`;
      for await (const execution of stage.client.workflow.list({ query })) return execution.workflowId;
      return undefined;
    },
    (id) => id !== undefined,
  );
  return found ?? type;
}

export async function ended(stage: Stage, workflow: string): Promise<string> {
  await until(
    async () => (await describe(stage, workflow))?.status.name,
    (status) => status === 'COMPLETED',
  );
  return workflow;
}

export async function waits(stage: Stage, workflow: string): Promise<void> {
  await until(
    async () => (await describe(stage, workflow))?.typedSearchAttributes.getAll() ?? [],
    (attributes) => attributes.some(({ key }) => key.name === 'WaitingFor'),
  );
}

async function waitsFor(stage: Stage, workflow: string, what: string): Promise<void> {
  await until(
    async () => (await describe(stage, workflow))?.typedSearchAttributes.getAll() ?? [],
    (attributes) => attributes.some(({ key, value }) => key.name === 'WaitingFor' && value === what),
  );
}

export function describe(stage: Stage, workflow: string) {
  return stage.client.workflow
    .getHandle(workflow)
    .describe()
    .catch(() => undefined);
}

async function hasTimerOfPause(stage: Stage, workflow: string): Promise<void> {
  await until(
    async () => {
      const { events } = await stage.client.workflow.getHandle(workflow).fetchHistory();
      const summaries = (events ?? []).map((event) => Buffer.from(event.userMetadata?.summary?.data ?? []).toString());
      return summaries.some((summary) => summary.includes('Pause before the transition'));
    },
    (found) => found,
  );
}

export async function setStatus(stage: Stage, id: AccountId, status: string): Promise<void> {
  await stage.database.reader.execute(sql`UPDATE accounts SET status = ${status} WHERE id = ${id}`);
}

async function statusOf(stage: Stage, id: AccountId): Promise<string | undefined> {
  const [row] = await stage.database.reader.execute<{ status: string }>(
    sql`SELECT status FROM accounts WHERE id = ${id}`,
  );
  return row?.status;
}

/** Money from outside for an account of this status. */
export async function arrival(
  stage: Stage,
  id: AccountId,
  status: string,
  isReviewed = false,
): Promise<IncomingTransferId> {
  await setStatus(stage, id, status);
  return stage.database.transaction(async (tx) => {
    const account = (await lockAccounts(tx, [id])).get(id) ?? null;
    const [clock] = await tx.execute<{ now: Date }>(sql`SELECT service_now() AS now`);
    const transfer = await createIncomingTransfer(
      tx,
      {
        provider: 'sandbox-bank',
        method: 'built-in',
        account,
        hold: null,
        isReviewed,
        amountMinor: 2_500n,
        feeMinor: 0n,
        currency: 'GBP',
        scope: 'external',
        scheme: 'faster-payments',
        provisionedAccountCreditId: null,
        serviceProviderId: crypto.randomUUID(),
        serviceProviderReference: null,
        senderInformation: 'Invoice 12',
        senderName: 'Paul Payer',
        senderAccount: null,
        receiverAccount: null,
      },
      clock?.now ?? new Date(),
    );
    return transfer.id;
  });
}

async function openAccount(stage: Stage): Promise<AccountId> {
  const { clientId }: { clientId: ClientId } = await stage.account(0n);
  const account = await stage.database.transaction((tx) =>
    createAccount(
      tx,
      {
        clientId,
        method: 'built-in',
        provider: 'sandbox-bank',
        country: 'GB',
        currency: 'GBP',
        alias: 'GBP Account',
      },
      TESTER,
    ),
  );
  await until(
    () => statusOf(stage, account.id),
    (status) => status === 'active',
  );
  return account.id;
}
