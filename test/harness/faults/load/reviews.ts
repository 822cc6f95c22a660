import { join } from 'node:path';
import { loadConfiguration } from '../../../../config/configuration.ts';
import { temporalSettings } from '../../../../config/temporal.ts';
import { type CheckedType, decideComplianceCheck } from '../../../../db/compliance/checks.ts';
import type { ProcedureResult } from '../../../../domain/compliance/procedures.ts';
import { lazyTemporalClient, type TemporalClient } from '../../../../loops/temporal.ts';
import { COMPLIANCE_DECISION_SIGNAL, workflowId } from '../../../../workflows/common/messages.ts';
import type { Json } from '../../api.ts';
import { TESTER } from '../../audit.ts';
import { isDone, type Operation } from './calls.ts';
import { type LoadKind, type LoadWorld, plainAmount } from './kind.ts';
import { adjustment, externalTransfer, internalTransfer, issuing, SCENARIOS, transferOf } from './orders.ts';

/** Transfers and payments in of this currency are reviewed (the configuration of `startWholeService`). */
const CURRENCY = 'EUR';
const ACCOUNTS = 3;
const RESULTS = {
  'all-passed': 10,
  'hard-stop-accepted': 3,
  'hard-stop-rejected': 3,
  'soft-stop': 1,
  'hard-stop': 1,
} satisfies Record<ProcedureResult, number>;
const FINAL: Readonly<Partial<Record<ProcedureResult, 'fulfilled' | 'not-fulfilled'>>> = {
  'all-passed': 'fulfilled',
  'hard-stop-accepted': 'fulfilled',
  'hard-stop-rejected': 'not-fulfilled',
};

interface Check {
  readonly type: CheckedType;
  readonly id: string;
}

interface Decision extends Check {
  readonly result: ProcedureResult;
  /** The operation of a PATCH; its outcome is known once the load has settled. */
  readonly operation: Operation | null;
  /** Whether an operator's command succeeded; false while unknown. A signal has no answer. */
  acknowledged: boolean;
}

/** Reviewed transfers and payments in, decided by PATCH, by signal and by the operator's command: some twice, some in several ways. */
export async function startReviews(world: LoadWorld): Promise<LoadKind & { close(): Promise<void> }> {
  const { calls, clientId, service } = world;
  const bankAccount = { country: 'DE', currency: CURRENCY, iban: 'DE89370400440532013000' };
  const { beneficiary } = await calls.create({
    purpose: 'beneficiary',
    path: '/beneficiaries',
    body: {
      workflow: { code: 'direct' },
      data: { beneficiary: { clientId, fullName: 'Bäckerei Am Bach', bankAccounts: [bankAccount] } },
    },
    idOf: (data) => data.beneficiary.id,
  });
  const accounts: Json[] = [];
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const { account } = await calls.create(issuing(clientId, CURRENCY));
    accounts.push(await calls.untilAccount(account.id, ({ status }) => status === 'active'));
    const funds = { accountId: account.id, direction: 'credit', amount: 5_000, currency: CURRENCY } as const;
    await calls.create(adjustment(funds));
  }
  const temporal = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: service.temporalAddress }));
  return new Reviews(world, accounts, beneficiary.bankAccounts[0].id, temporal);
}

class Reviews implements LoadKind {
  readonly #world: LoadWorld;
  readonly #accounts: readonly Json[];
  readonly #bankAccountId: string;
  readonly #temporal: TemporalClient;
  readonly #decisions: Decision[] = [];

  constructor(world: LoadWorld, accounts: readonly Json[], bankAccountId: string, temporal: TemporalClient) {
    this.#world = world;
    this.#accounts = accounts;
    this.#bankAccountId = bankAccountId;
    this.#temporal = temporal;
  }

  async close(): Promise<void> {
    await this.#temporal.close();
  }

  async act(): Promise<void> {
    const { random, calls, clientId } = this.#world;
    const [from, to] = random.pair(this.#accounts);
    const money = { clientId, currency: CURRENCY, from: from.id };
    const kind = random.weighted({ internal: 3, external: 2, payIn: 2, decide: 7 });
    if (kind === 'internal') {
      await calls.sendSingle(
        transferOf(internalTransfer({ ...money, amount: plainAmount(random, { to: 40 }) }, to.id)),
      );
    } else if (kind === 'external') {
      const amount = Number(`${random.whole(1, 40)}${random.weighted(SCENARIOS)}`);
      await calls.sendSingle(transferOf(externalTransfer({ ...money, amount }, 'sepa-instant', this.#bankAccountId)));
    } else if (kind === 'payIn') {
      await this.#world.payIn(to, plainAmount(random, { to: 300 }), CURRENCY, 'sepa');
    } else await this.#decideOne();
  }

  async #decideOne(): Promise<void> {
    const { random } = this.#world;
    // No result while Postgres is away.
    const open = await this.#inReview().catch(() => []);
    if (open.length === 0) return;
    const check = random.pick(open);
    const times = random.chance(0.3) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => this.#decide(check, random.weighted(RESULTS))));
  }

  #inReview(): Promise<Check[]> {
    return this.#world.service.database.reader.statement<Check>(
      `SELECT 'outgoing-transfer' AS type, id FROM outgoing_transfers
         WHERE compliance_check_status = 'not-checked' AND status = 'pending'
       UNION ALL SELECT 'incoming-transfer', id FROM incoming_transfers
         WHERE compliance_check_status = 'not-checked' AND status IN ('pending', 'on-hold')`,
      [],
    );
  }

  async #decide(check: Check, result: ProcedureResult): Promise<void> {
    const way = this.#world.random.weighted({ patch: 5, signal: 4, command: 1 });
    if (way === 'patch') await this.#patch(check, result);
    else if (way === 'signal') await this.#signal(check, result);
    else await this.#command(check, result);
  }

  async #patch(check: Check, result: ProcedureResult): Promise<void> {
    const { calls } = this.#world;
    const procedureResult = { procedure: 'transaction-monitoring', result };
    const { request, operation } = calls.single({
      purpose: 'decision',
      method: 'PATCH',
      path: `/${check.type}s/${check.id}/compliance-check`,
      body: { workflow: { code: 'direct' }, data: { complianceCheck: { procedureResult } } },
      idOf: () => check.id,
    });
    this.#decisions.push({ ...check, result, operation, acknowledged: false });
    await calls.send(request);
  }

  /** Only the transfer shows whether the signal arrives. Half are sent twice, under one id. */
  async #signal(check: Check, result: ProcedureResult): Promise<void> {
    const { random } = this.#world;
    const decisionId = `decision-${this.#decisions.length}`;
    this.#decisions.push({ ...check, result, operation: null, acknowledged: false });
    const payload = { decisionId, procedure: 'transaction-monitoring', result, actor: 'compliance desk' };
    const handle = this.#temporal.client.workflow.getHandle(workflowId(check.type, check.id));
    const times = random.chance(0.5) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      // Fails while Temporal is away, and while the workflow has not started.
      await this.#temporal.connection
        .withDeadline(Date.now() + SIGNAL_MS_MAX, () => handle.signal(COMPLIANCE_DECISION_SIGNAL, payload))
        .catch(() => {});
    }
  }

  /** As `operate decide` does, with the configuration of the service. */
  async #command(check: Check, result: ProcedureResult): Promise<void> {
    const { database, directory } = this.#world.service;
    const rules = loadConfiguration({ CONFIG_FILE: join(directory, 'configuration.json') });
    const decision: Decision = { ...check, result, operation: null, acknowledged: false };
    this.#decisions.push(decision);
    await database
      .transaction((tx) => decideComplianceCheck(tx, check, result, TESTER, rules))
      .then(
        () => {
          decision.acknowledged = true;
        },
        // Rejected; or Postgres is away, and the outcome unknown.
        () => {},
      );
  }

  /** Approves what is still in review. */
  async finish(): Promise<void> {
    for (const check of await this.#inReview()) await this.#patch(check, 'all-passed');
  }

  /** Every check has one decision, which a reviewer sent: the acknowledged one, if there is one. */
  async findProblems(): Promise<string[]> {
    const rows = await this.#world.service.database.reader.statement<CheckRow>(DECIDED, []);
    const byId = new Map<string, Decision[]>();
    for (const decision of this.#decisions) byId.set(decision.id, [...(byId.get(decision.id) ?? []), decision]);
    const problems = rows.flatMap((row) => problemsOf(row, byId.get(row.id) ?? []));
    const known = new Set(rows.map(({ id }) => id));
    for (const id of byId.keys()) if (!known.has(id)) problems.push(`check of ${id}: decided, and there is none`);
    return problems;
  }
}

const SIGNAL_MS_MAX = 5_000;

interface CheckRow {
  readonly id: string;
  readonly status: string;
  readonly check: 'fulfilled' | 'not-fulfilled' | 'not-checked';
  readonly result: ProcedureResult | null;
  readonly final: number;
}

/** All checks, with the number of final decisions in the audit log. */
const DECIDED = `SELECT id, status, compliance_check_status AS check, compliance_result AS result,
    (SELECT count(*) FROM audit_entries WHERE resource_id = checked.id::text AND action = 'reviewed'
      AND after -> 'complianceCheck' ->> 'status' IN ('approved', 'rejected'))::integer AS final
  FROM (
    SELECT id, status, compliance_check_status, compliance_result FROM outgoing_transfers
    UNION ALL SELECT id, status, compliance_check_status, compliance_result FROM incoming_transfers
  ) AS checked WHERE compliance_check_status <> 'not-required'`;

function problemsOf({ id, status, check, result, final }: CheckRow, decisions: readonly Decision[]): string[] {
  const problems: string[] = [];
  const wrong = (problem: string) => problems.push(`check of ${id}, ${check} by ${result}, ${status}: ${problem}`);
  const won = decisions.filter(
    (decision) =>
      FINAL[decision.result] !== undefined &&
      (decision.acknowledged || (decision.operation !== null && isDone(decision.operation))),
  );
  if (won.length > 1) wrong(`${won.length} final decisions were acknowledged`);
  for (const { result: acknowledged } of won) if (acknowledged !== result) wrong(`acknowledged was ${acknowledged}`);
  if (result !== null && !decisions.some((decision) => decision.result === result)) wrong('no reviewer decided so');
  if (check === 'not-checked') {
    if (status !== 'failed' && status !== 'cancelled') wrong('the transfer continued without a decision');
    if (final > 0) wrong('the audit log has a final decision');
    return problems;
  }
  if (result === null || FINAL[result] !== check) wrong('the result does not say so');
  if (check === 'not-fulfilled' && status !== 'failed') wrong('rejected, and not failed');
  if (final !== 1) wrong(`the audit log has ${final} final decisions`);
  return problems;
}
