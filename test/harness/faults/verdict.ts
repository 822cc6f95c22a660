import { Webhook } from 'standardwebhooks';
import { loadConfiguration } from '../../../config/configuration.ts';
import { checkLedger } from '../../../db/ledger/check.ts';
import type { Json } from '../api.ts';
import type { WholeService } from '../servers/whole-service.ts';
import { illegalTransitions } from '../workflows/state-history.ts';
import type { Purpose } from './load/calls.ts';
import type { Load } from './load/load.ts';
import { stuckWorkOf } from './settled.ts';
import { isSignedBy, problemsOfArrivals, readRecordedEvents, readUnanswered } from './webhook-verdict.ts';

/** Problems found after a run, in words: losses, duplicates and contradictions. */
export type Problems = string[];

export interface CheckedRun {
  readonly service: WholeService;
  readonly load: Load;
  readonly webhookSecret: string;
  readonly subscriptionId: string;
  /** Besides the sandbox's bank. */
  readonly further?: CheckedBank;
}

export interface CheckedBank {
  readonly books: BankBooks;
  findProblems(service: WholeService): Promise<Problems>;
}

export async function findProblems(run: CheckedRun): Promise<Problems> {
  const found = await Promise.all([
    checkBooks(run),
    checkWishes(run),
    stuckWorkOf(run.service),
    checkWebhooks(run),
    checkBanks(run),
    run.further?.findProblems(run.service) ?? [],
    checkSessions(run),
    illegalTransitions(run.service.database.reader),
    run.load.findProblems(),
  ]);
  return found.flat();
}

async function checkBooks({ service }: CheckedRun): Promise<Problems> {
  const violations = await checkLedger(service.database.reader);
  return violations.map(({ rule, subject, expected, actual }) => `ledger: ${rule}: ${subject} ${expected} ≠ ${actual}`);
}

/** What operations create, and where it is stored. An opening balance belongs to the operation for its account. */
const CREATED: Readonly<Partial<Record<Purpose, string>>> = {
  transfer: 'SELECT id, status::text FROM outgoing_transfers',
  account: 'SELECT id, status::text FROM accounts',
  client: 'SELECT id, status::text FROM clients',
  beneficiary: 'SELECT id, NULL AS status FROM beneficiaries',
  adjustment: `SELECT id, NULL AS status FROM balance_adjustments WHERE workflow_code <> 'synchronization'`,
};

/** How many of what was acknowledged until now do not exist, and how many operations were done more than once. */
export async function lostAndDoubled({ service, load }: Pick<CheckedRun, 'service' | 'load'>) {
  let lost = 0;
  const operations = [...load.operations];
  for (const [purpose, sql] of Object.entries(CREATED)) {
    const ids = operations.flatMap((operation) => (operation.purpose === purpose ? [...operation.ids] : []));
    const rows = await service.database.reader.statement<{ id: string }>(sql, []);
    const known = new Set(rows.map(({ id }) => id));
    lost += ids.filter((id) => !known.has(id)).length;
  }
  return { lost, doubled: operations.filter(({ ids }) => ids.size > 1).length };
}

/** Everything acknowledged exists, every key has one, and nothing exists without a request. */
async function checkWishes({ service, load }: CheckedRun): Promise<Problems> {
  const problems: Problems = [];
  for (const { key, purpose, ids, status } of load.operations) {
    if (status === null) problems.push(`${purpose} ${key}: its outcome stays unknown`);
    if (ids.size > 1) problems.push(`${purpose} ${key}: done ${ids.size} times: ${[...ids].join(', ')}`);
  }
  for (const [purpose, sql] of Object.entries(CREATED)) {
    const rows = await service.database.reader.statement<{ id: string; status: string | null }>(sql, []);
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    const keysById = new Map<string, string>();
    for (const { key, ids } of load.operations.filter((operation) => operation.purpose === purpose)) {
      for (const id of ids) {
        const other = keysById.get(id);
        if (other !== undefined) problems.push(`${purpose} ${id}: two operations have it, ${other} and ${key}`);
        keysById.set(id, key);
        if (!statuses.has(id)) problems.push(`${purpose} ${key}: acknowledged as ${id}, which does not exist`);
      }
    }
    for (const id of statuses.keys()) if (!keysById.has(id)) problems.push(`${purpose} ${id}: no request asked for it`);
    for (const id of purpose === 'transfer' ? load.cancelled : []) {
      if (statuses.get(id) !== 'cancelled') problems.push(`transfer ${id}: cancelled, but it is ${statuses.get(id)}`);
    }
  }
  if (load.figures.hung > 0) problems.push(`${load.figures.hung} requests hung`);
  return problems;
}

/** Sessions of one process outside its pool: its LISTEN connections. */
const LISTENERS_MAX = 2;

/** Pools are back to size: no fault left a session behind. */
async function checkSessions({ service }: CheckedRun): Promise<Problems> {
  const { pools } = loadConfiguration({});
  const limits: Record<string, number> = { api: pools.apiDatabaseConnections, worker: pools.workerDatabaseConnections };
  const sessions = await service.database.reader.statement<{ name: string; count: number }>(
    `SELECT application_name AS name, count(*)::integer AS count FROM pg_stat_activity
     WHERE application_name IN ('api', 'worker') GROUP BY 1`,
    [],
  );
  return sessions.flatMap(({ name, count }) => {
    const most = service.apiUrls.length * ((limits[name] ?? 0) + LISTENERS_MAX);
    return count > most ? [`${count} sessions of ${name}, which may have ${most}`] : [];
  });
}

async function checkWebhooks({ service, webhookSecret, subscriptionId }: CheckedRun): Promise<Problems> {
  const webhook = new Webhook(webhookSecret);
  const arrivals = service.receiver.received.map(({ headers, text, body, id }) => ({
    eventId: body.metadata.eventId,
    webhookId: id,
    isSigned: isSignedBy(webhook, headers, text),
  }));
  const unanswered = await readUnanswered(service.database, subscriptionId);
  const problems = problemsOfArrivals(await readRecordedEvents(service.database), arrivals, unanswered);
  const [failed] = await service.database.reader.statement<{ count: number }>(
    `SELECT count(*)::integer AS count FROM webhook_deliveries WHERE status <> 'succeeded'`,
    [],
  );
  if (failed?.count !== 0) problems.push(`${failed?.count} deliveries did not succeed`);
  return problems;
}

/** A bank whose books are compared with ours. */
export interface BankBooks {
  readonly provider: string;
  /** The column of a payment in that has the bank's id of it, as its statement names it. */
  readonly idOfPaymentIn: 'service_provider_id' | 'service_provider_reference';
  /** Whether a payment that the bank could not deliver has ended as completed and returned, as its messages tell nothing else. */
  readonly tellsFailuresAsReturns: boolean;
  statement(service: WholeService): Promise<BankEntry[]>;
}

const SANDBOX_BOOKS: BankBooks = {
  provider: 'sandbox-bank',
  idOfPaymentIn: 'service_provider_id',
  tellsFailuresAsReturns: false,
  statement: bankStatement,
};

/** The books of every bank and ours agree, payment by payment and in total. */
async function checkBanks({ service, load, further }: CheckedRun): Promise<Problems> {
  const problems: Problems = [];
  const paid = new Set<string>();
  for (const books of [SANDBOX_BOOKS, ...(further === undefined ? [] : [further.books])]) {
    const entries = await books.statement(service);
    problems.push(...(await checkPaymentsOut(service, books, entries)));
    problems.push(...(await checkPaymentsIn(service, load, books, entries)));
    problems.push(...(await checkSums(service, books, entries)));
    for (const { kind, paymentId } of entries) if (kind === 'payment-in') paid.add(paymentId);
  }
  for (const id of load.paidIn.keys())
    if (!paid.has(id)) problems.push(`payment in ${id}: acknowledged, and lost by the bank`);
  return problems;
}

async function checkSums(service: WholeService, { provider }: BankBooks, entries: readonly BankEntry[]) {
  const problems: Problems = [];
  // A fee sweep moves the company's own money to settlement; nothing moves at the bank.
  const settled = await service.database.reader.statement<{ currency: string; minor: string }>(
    `SELECT account.currency, sum(CASE WHEN credit_account_id = account.id THEN -amount_minor ELSE amount_minor END)::text AS minor
     FROM system_accounts account JOIN postings ON account.id IN (debit_account_id, credit_account_id)
     WHERE account.provider = $1 AND account.kind = 'settlement' AND debit_transaction_type <> 'fee-sweep'
     GROUP BY 1`,
    [provider],
  );
  const ours = new Map(settled.map(({ currency, minor }) => [currency, Number(minor)]));
  for (const currency of new Set([...ours.keys(), ...entries.map((entry) => entry.currency)])) {
    const position = entries
      .filter((entry) => entry.currency === currency)
      .reduce((sum, { direction, pence }) => sum + (direction === 'credit' ? pence : -pence), 0);
    if ((ours.get(currency) ?? 0) !== position) {
      problems.push(
        `${provider} holds ${position} ${currency} cents for us, our settlement account says ${ours.get(currency)}`,
      );
    }
  }
  return problems;
}

export interface BankEntry {
  readonly kind: string;
  readonly direction: 'credit' | 'debit';
  readonly currency: string;
  /** Hundredths of any currency of the load. */
  readonly pence: number;
  readonly paymentId: string;
  readonly ourReference: string | null;
}

async function bankStatement(service: WholeService): Promise<BankEntry[]> {
  const entries: BankEntry[] = [];
  for (let after: string | null = '0'; after !== null; ) {
    const response = await fetch(`${service.sandboxUrl}/bank/statement?limit=5000&after=${after}`);
    const page: Json = await response.json();
    entries.push(...page.entries.map((entry: Json) => ({ ...entry, pence: Math.round(entry.amount * 100) })));
    after = page.next;
  }
  return entries;
}

const PAYMENTS_OUT = `SELECT id, status, amount_minor AS pence,
    ARRAY(SELECT amount_minor::text FROM incoming_transfers WHERE return_of = paid.id) AS returns
  FROM outgoing_transfers AS paid WHERE scope = 'external' AND provider = $1`;

async function checkPaymentsOut(
  service: WholeService,
  { provider, tellsFailuresAsReturns }: BankBooks,
  entries: readonly BankEntry[],
): Promise<Problems> {
  const booked = new Map<string, string[]>();
  for (const { kind, pence, ourReference } of entries) {
    if (!kind.startsWith('payment-out') || ourReference === null) continue;
    const told = tellsFailuresAsReturns ? kind.replace('payment-out-failed', 'payment-out-returned') : kind;
    booked.set(ourReference, [...(booked.get(ourReference) ?? []), `${told} ${pence}`]);
  }
  const transfers = await service.database.reader.statement<{
    id: string;
    status: string;
    pence: bigint;
    returns: readonly string[];
  }>(PAYMENTS_OUT, [provider]);
  const problems: Problems = [];
  for (const { id, status, pence, returns } of transfers) {
    const out = [`payment-out ${pence}`];
    const possible: Record<string, string[][]> = {
      completed: [[...out, ...returns.map((part) => `payment-out-returned ${part}`)]],
      failed: [[], [...out, `payment-out-failed ${pence}`]],
      cancelled: [[]],
    };
    const actual = JSON.stringify((booked.get(id) ?? []).sort());
    booked.delete(id);
    if ((possible[status] ?? []).some((entriesOf) => JSON.stringify(entriesOf.sort()) === actual)) continue;
    problems.push(
      `transfer ${id} is ${status}, ${returns.join(' and ') || 'nothing'} came back, and the bank booked ${actual}`,
    );
  }
  for (const [id, of] of booked) problems.push(`${provider} paid ${id}, which we do not know: ${of.join(', ')}`);
  return problems;
}

async function checkPaymentsIn(
  service: WholeService,
  load: Load,
  { provider, idOfPaymentIn }: BankBooks,
  entries: readonly BankEntry[],
): Promise<Problems> {
  const arrivals = await service.database.reader.statement<Arrival>(
    `SELECT ${idOfPaymentIn} AS "paymentId", status, amount_minor AS pence, account_id AS "accountId" FROM incoming_transfers
     WHERE provider = $1 AND service_provider_id IS NOT NULL`,
    [provider],
  );
  const ours = new Map(arrivals.map((arrival) => [arrival.paymentId, arrival]));
  const problems: Problems = [];
  if (ours.size !== arrivals.length) problems.push(...doubledArrivals(arrivals));
  const paid = new Set<string>();
  const sentBack = new Map<string, number[]>();
  for (const { kind, pence, paymentId } of entries) {
    if (kind !== 'payment-in-sent-back') continue;
    sentBack.set(paymentId, [...(sentBack.get(paymentId) ?? []), pence]);
  }
  for (const { kind, pence, paymentId } of entries) {
    if (kind !== 'payment-in') continue;
    paid.add(paymentId);
    const arrival = ours.get(paymentId);
    const back = sentBack.get(paymentId) ?? [];
    sentBack.delete(paymentId);
    const isCompleted = arrival?.status === 'completed' && back.length === 0;
    const isSentBack = arrival?.status === 'failed' && back.length === 1 && back[0] === pence;
    if (Number(arrival?.pence) !== pence || !(isCompleted || isSentBack)) {
      const went = back.length === 0 ? '' : `, and the bank sent back ${back.join(', ')}`;
      problems.push(`payment in ${paymentId} of ${pence}: ours is ${arrival?.status} of ${arrival?.pence}${went}`);
    }
    const meantFor = load.paidIn.get(paymentId);
    if (isCompleted && meantFor !== undefined && arrival.accountId !== meantFor) {
      problems.push(`payment in ${paymentId} was for ${meantFor}, and went to ${arrival.accountId}`);
    }
  }
  for (const id of sentBack.keys()) problems.push(`payment in ${id}: sent back, and never paid in`);
  for (const id of ours.keys()) if (!paid.has(id)) problems.push(`payment in ${id}: the bank does not know it`);
  return problems;
}

interface Arrival {
  readonly paymentId: string;
  readonly status: string;
  readonly pence: bigint;
  readonly accountId: string | null;
}

function doubledArrivals(arrivals: readonly Arrival[]): Problems {
  const ids = arrivals.map(({ paymentId }) => paymentId);
  const doubled = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...doubled].map((id) => `payment in ${id}: it came more than once`);
}
