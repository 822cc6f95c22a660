import { isDeepStrictEqual } from 'node:util';
import postgres from 'postgres';
import { Pool } from 'undici';
import { ERROR_STATUS } from '../../../api/http/errors.ts';
import { parseJson, stringify } from '../../../api/http/requests/json.ts';
import { newId } from '../../../db/common/ids.ts';
import { checkWholeLedger } from '../../../db/ledger/check.ts';
import { type Json, signToken, startApi, TEST_AUDIENCE, type TestApi } from '../api.ts';
import { randomFrom } from '../random.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import {
  type Observed,
  observe,
  renderEvents,
  stageAll,
  type Watched,
  withNames,
  withoutFastPaths,
} from './staged-transfers.ts';
import {
  drawCase,
  expectedRejection,
  knownAccounts,
  MORNING,
  REVIEWED,
  requestOf,
  type Staged,
  stageIds,
  TODAY,
  type TransferCase,
} from './transfer-cases.ts';

/**
 * One request has one outcome, whichever way it takes: settled by one statement in SQL or decided under locks in TypeScript, created
 * without locks or under them, for now or with today's date, on its own or together with concurrent ones, in a batch of either mode, or as a dry run.
 */

const BATCH = 240;
/** Batches under way at once: while Postgres stages one, this process compares another. */
const BATCHES_AT_ONCE = 2;
/** APIs whose requests come one after another, so that each has a statement of its own. */
const LANES = 4;
/** One in this many random cases has a dry run, which costs as much as a transfer. */
const DRY_RUN_OF_CASES = 8;
/** A million cases take longer than a token may live. */
const TOKEN_LIFE_SECONDS = 3_600;
const TOKEN_USED_MS = 1_800_000;

export interface ParityService {
  readonly api: TestApi;
  readonly underLocks: TestApi;
  readonly lanes: readonly TestApi[];
  readonly callers: ReadonlyMap<TestApi, Pool>;
  /** Of the operator; each process verifies a new one at every request that comes before the first is answered. */
  token(): Promise<string>;
  stop(): Promise<void>;
}

/** Commits without waiting for the disk, which changes no outcome. */
async function relaxDurability(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  await sql.end();
}

function reviewed(direction: keyof typeof REVIEWED) {
  const byCurrency = Object.fromEntries(REVIEWED[direction].map((currency) => [currency, 'external' as const]));
  return { rule: 'none' as const, byCurrency };
}

export async function startParityService(): Promise<ParityService> {
  const database = await createTestDatabase('transfer-parity');
  await relaxDurability(database.ownerUrl);
  const aheadMs = Date.parse(MORNING) - Date.now();
  const options = {
    // Both clocks: where their days differ, every transfer is decided under locks.
    clockOffset: () => `${aheadMs} milliseconds`,
    now: () => new Date(Date.now() + aheadMs),
    configuration: (configuration: TestApi['services']['configuration']) => ({
      ...configuration,
      prices: [],
      compliance: { incoming: reviewed('incoming'), outgoing: reviewed('outgoing') },
      rateLimit: { requestsPerSecond: 1_000_000 },
    }),
    guardsTransactions: false,
  };
  const api = await startApi(database, options);
  const slow = await withoutFastPaths(database);
  const further = { ...options, users: api.users };
  const underLocks = await startApi({ ...database, url: slow.url }, further);
  const lanes = await Promise.all(
    Array.from({ length: LANES }, () => startApi(database, { ...further, maxConnections: 2 })),
  );
  const callers = new Map([api, underLocks, ...lanes].map((one) => [one, new Pool(one.url, { connections: 64 })]));
  return {
    api,
    underLocks,
    lanes,
    callers,
    token: tokenOf(api),
    stop: async () => {
      for (const caller of callers.values()) await caller.close();
      for (const one of [underLocks, ...lanes]) await one.stop();
      await api.stop();
      await database.drop();
    },
  };
}

function tokenOf({ services, users }: TestApi): () => Promise<string> {
  let signed = { atMs: Number.NEGATIVE_INFINITY, token: Promise.resolve('') };
  return () => {
    const nowMs = services.now().getTime();
    if (nowMs - signed.atMs > TOKEN_USED_MS) {
      const iat = Math.floor(nowMs / 1_000);
      const exp = iat + TOKEN_LIFE_SECONDS;
      signed = { atMs: nowMs, token: signToken(users.operator, { aud: TEST_AUDIENCE, iat, exp }) };
    }
    return signed.token;
  };
}

/** Differences in this many random cases, each reported when it is found, and violations of the books' invariants. */
export async function randomDifferences(
  service: ParityService,
  seed: number,
  count: number,
  report: (difference: string) => void = () => {},
  onCompared: (cases: number) => void = () => {},
): Promise<string[]> {
  const differences: string[] = [];
  let compared = 0;
  const starts = Array.from({ length: Math.ceil(count / BATCH) }, (_, index) => index * BATCH).values();
  const compareBatches = async () => {
    for (const start of starts) {
      const random = randomFrom(seed + start);
      const cases = Array.from({ length: Math.min(BATCH, count - start) }, () => drawCase(random));
      const found = await differencesIn(
        service,
        cases,
        (index) => `seed ${seed}, case ${start + index}`,
        DRY_RUN_OF_CASES,
      );
      for (const difference of found) report(difference);
      differences.push(...found);
      compared += cases.length;
      onCompared(compared);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, compareBatches));
  const violations = (await checkWholeLedger(service.api.database)).map((violation) => JSON.stringify(violation));
  for (const violation of violations) report(violation);
  return [...differences, ...violations];
}

/** Transfers that the one statement settled: its events are constant texts, without the fields that a decision in TypeScript repeats. */
export async function countSettledByStatement({ api }: ParityService): Promise<number> {
  const [row] = await api.database.statement<{ count: number }>(
    `SELECT count(*)::integer AS count FROM events
      WHERE module = 'outgoing-transfers' AND NOT (entries::jsonb -> 0 -> 'data') ? 'rollCount'`,
    [],
  );
  return row?.count ?? 0;
}

const BATCHED = ['in a batch', 'in a batch of all or none'] as const;
const WAYS = ['dry run', 'together', 'single', 'under locks', "with today's date", ...BATCHED] as const;
type Way = (typeof WAYS)[number];

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Sent {
  readonly way: Way;
  readonly staged: Staged;
  readonly key: string;
}

async function send(service: ParityService, token: string, api: TestApi, { way, staged, key }: Sent): Promise<Answer> {
  const change = way === "with today's date" ? { transferDate: TODAY } : {};
  const workflow = way === 'dry run' ? { dryRun: true } : {};
  const { statusCode, body } = await present(service.callers.get(api)).request({
    path: '/outgoing-transfers',
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(requestOf(staged, change, workflow)),
  });
  return { status: statusCode, text: await body.text() };
}

async function sendAll(service: ParityService, sent: readonly Sent[]): Promise<Map<Sent, Answer>> {
  const answers = new Map<Sent, Answer>();
  const token = await service.token();
  for (const way of WAYS) {
    const taking = sent.filter((one) => one.way === way);
    const sendTo = async (api: TestApi, one: Sent) => void answers.set(one, await send(service, token, api, one));
    if (isBatched(way)) {
      await sendBatches(service, token, taking, (one, answer) => answers.set(one, answer));
    } else if (way === 'single') {
      const oneByOne = async (lane: TestApi, first: number) => {
        for (const one of taking.filter((_, index) => index % LANES === first)) await sendTo(lane, one);
      };
      await Promise.all(service.lanes.map(oneByOne));
    } else {
      const api = way === 'under locks' ? service.underLocks : service.api;
      await Promise.all(taking.map((one) => sendTo(api, one)));
    }
  }
  return answers;
}

function isBatched(way: Way): way is (typeof BATCHED)[number] {
  return way === 'in a batch' || way === 'in a batch of all or none';
}

async function sendBatches(
  service: ParityService,
  token: string,
  sent: readonly Sent[],
  answered: (one: Sent, answer: Answer) => void,
): Promise<void> {
  // The items of a batch share their pricing.
  const workflowOf = ({ staged }: Sent) => JSON.stringify(requestOf(staged).workflow);
  for (const workflow of new Set(sent.map(workflowOf))) {
    const part = sent.filter((one) => workflowOf(one) === workflow);
    const mode = part[0]?.way === 'in a batch' ? 'each' : 'all';
    const items = part.map(({ staged, key }) => ({ reference: key, ...requestOf(staged).data }));
    const { statusCode, body } = await present(service.callers.get(service.api)).request({
      path: '/outgoing-transfers/batch',
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: { ...JSON.parse(workflow), mode }, data: { items } }),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`a batch was answered with ${statusCode}: ${text}`);
    const { data }: Json = parseJson(text, [], Number.POSITIVE_INFINITY);
    for (const [index, one] of part.entries()) answered(one, singleAnswer(workflow, data.results[index]));
  }
}

/** The result of an item as the answer to its transfer as a single request. */
function singleAnswer(workflow: string, { error, outgoingTransfer }: Json): Answer {
  if (error === undefined) return { status: 201, text: envelopeOf(workflow, stringify(outgoingTransfer)) };
  return { status: ERROR_STATUS[error.code as keyof typeof ERROR_STATUS], text: JSON.stringify(error) };
}

function envelopeOf(workflow: string, transfer: string): string {
  return `{"workflow":${workflow},"data":{"outgoingTransfer":${transfer}},"connect":{},"metadata":{}}`;
}

/** The ways with equal results: an internal transfer without a date gets today's. */
function waysOf(of: TransferCase): readonly Way[] {
  const dated = of.scope === 'internal' && of.transferDate === null;
  return ['together', 'single', 'under locks', ...(dated ? (["with today's date"] as const) : []), ...BATCHED];
}

/**
 * A case's situation and the requests sent in it. Where the rules reject, nothing changes, so all ways share one
 * situation; where they accept, each way has its own, except that the dry run comes before another.
 */
interface Situation extends Watched {
  readonly sent: readonly Sent[];
}

function situationsOf(of: TransferCase, isTriedFirst: boolean): readonly Situation[] {
  const dryRun = isTriedFirst ? (['dry run'] as const) : [];
  const [first, ...others] = waysOf(of);
  const isRejected = expectedRejection(stageIds(of)) !== null;
  const groups = isRejected
    ? [[...dryRun, ...waysOf(of).filter((way) => way !== 'in a batch of all or none')]]
    : [[...dryRun, present(first)], ...others.map((way) => [way])];
  return groups.map((group) => {
    const staged = stageIds(of);
    const sent = group.map((way) => ({ way, staged, key: newId() }));
    return { staged, sent, keys: sent.map(({ key }) => key) };
  });
}

/** The result of one way. */
interface Outcome {
  readonly way: Way;
  readonly answer: Answer;
  /** What a repeated request gets. */
  readonly kept: string | undefined;
  readonly observed: Observed;
}

/** Differences between the ways of each case, or from the rules. One in so many cases is a dry run too. */
export async function differencesIn(
  service: ParityService,
  cases: readonly TransferCase[],
  where: (index: number) => string,
  dryRunOfCases: number,
): Promise<string[]> {
  const situations = cases.map((of, index) => situationsOf(of, index % dryRunOfCases === 0));
  await stageAll(
    service.api,
    situations.flat().map(({ staged }) => staged),
  );
  const answers = await sendAll(
    service,
    situations.flat().flatMap(({ sent }) => sent),
  );
  const observed = (await observe(service.api, service.api.users.operator.id, situations.flat())).values();
  const differences: string[] = [];
  const otherWords: { where: string; pair: readonly [Observed, Observed] }[] = [];
  for (const [index, of] of cases.entries()) {
    const outcomes = present(situations[index]).flatMap((situation) =>
      outcomesOf(situation, answers, present(observed.next().value)),
    );
    const place = `${where(index)}: ${JSON.stringify(of)}`;
    differences.push(...differencesBetween(outcomes, present(situations[index]?.[0])).map((one) => `${one}; ${place}`));
    const [first, ...others] = outcomes.filter(({ way }) => way !== 'dry run');
    for (const { way, observed: other } of others) {
      const pair = [other, present(first).observed] as const;
      if (other.events !== pair[1].events) otherWords.push({ where: `${way}: ${place}`, pair });
    }
  }
  const rendered = (
    await renderEvents(
      service.api,
      otherWords.flatMap(({ pair }) => pair),
    )
  ).values();
  for (const { where: place } of otherWords) {
    const [actual, expected] = [rendered.next().value, rendered.next().value];
    if (!isDeepStrictEqual(actual, expected)) differences.push(`events: ${differenceOf(actual, expected)}; ${place}`);
  }
  return differences;
}

function outcomesOf({ sent }: Situation, answers: ReadonlyMap<Sent, Answer>, observed: Observed): Outcome[] {
  return sent.map((one, place) => {
    const { status, text } = present(answers.get(one));
    return {
      way: one.way,
      answer: { status, text: withNames(text, observed.names) },
      kept: isBatched(one.way) ? keptOfSingle(one, observed.kept[place]) : observed.kept[place],
      observed,
    };
  });
}

/** What is stored for an item's reference, in the form stored for the key of a single request. */
function keptOfSingle({ staged }: Sent, kept: string | undefined): string | undefined {
  if (kept === undefined) return undefined;
  const [status, body] = JSON.parse(kept);
  return JSON.stringify([status, body === null ? null : envelopeOf(JSON.stringify(requestOf(staged).workflow), body)]);
}

function differencesBetween(outcomes: readonly Outcome[], { staged }: Situation): string[] {
  const differences: string[] = [];
  const compare = (what: string, actual: unknown, expected: unknown) => {
    if (!isDeepStrictEqual(actual, expected)) differences.push(`${what}: ${differenceOf(actual, expected)}`);
  };
  const dryRun = outcomes.find(({ way }) => way === 'dry run');
  const [first, ...others] = outcomes.filter(({ way }) => way !== 'dry run');
  if (first === undefined) throw new Error('every case goes some way');
  compare('by the rules', rejectionOf(first.answer), expectedRejectionNamed(staged));
  if (dryRun !== undefined) {
    compare('dry run', planned(dryRun.answer), planned(first.answer));
    if (first.answer.status === 201) {
      const { outgoingTransfer } = JSON.parse(first.answer.text).data;
      compare('requirements of the dry run', requirementsOf(dryRun.answer), foreseen(staged.case, outgoingTransfer));
      const [row] = JSON.parse(first.observed.traces).outgoing;
      if (isDecidedAtOnce(row)) compare('requirements', requirementsOf(dryRun.answer), requirementsOfRow(row));
    }
  }
  for (const { way, answer, kept, observed } of others) {
    compare(`${way}, answer`, answer, first.answer);
    compare(`${way}, answer to a repetition`, kept, first.kept);
    // Texts are quicker to compare; the order of fields means nothing.
    if (observed.traces !== first.observed.traces) {
      compare(way, JSON.parse(observed.traces), JSON.parse(first.observed.traces));
    }
  }
  if (first.answer.status >= 400) compare('rejected', JSON.parse(first.observed.traces), untouched(staged));
  return differences;
}

/** The traces of a situation in which nothing happened. */
function untouched(staged: Staged): Json {
  const accounts = knownAccounts(staged).map(({ side, account: { status, postedMinor } }) => {
    return [side, status, postedMinor, 0, 0, postedMinor > 0 ? 1 : 0, false, false];
  });
  return { outgoing: [], incoming: [], postings: [], accounts: accounts.reverse(), wakeups: [] };
}

/** The first difference of two values, as JSON. */
function differenceOf(actual: unknown, expected: unknown): string {
  const [one, other] = [JSON.stringify(actual) ?? 'nothing', JSON.stringify(expected) ?? 'nothing'];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 80);
  return `${one.slice(from, at + 160)} instead of ${other.slice(from, at + 160)}`;
}

interface Rejected {
  readonly status: number;
  readonly code: string;
  readonly field: string;
  readonly value: string;
}

function rejectionOf({ status, text }: Answer): Rejected | null {
  if (status < 400) return null;
  const { code, messageParameters, errors } = JSON.parse(text);
  const [entity, field, value] = messageParameters;
  if (entity !== 'outgoingTransfer' || errors !== undefined) throw new Error(`not a rejection of a transfer: ${text}`);
  return { status, code, field, value };
}

function expectedRejectionNamed(staged: Staged): Rejected | null {
  const expected = expectedRejection(staged);
  if (expected === null) return null;
  const name = Object.entries(staged).find(([, value]) => value === expected.value)?.[0] ?? expected.value;
  return { ...expected, value: name };
}

const OF_EXISTING_ALONE = new Set([
  'id',
  'transactionNumber',
  'paymentReference',
  'status',
  'statusReason',
  'returned',
  'incomingTransferId',
  'serviceProviderId',
  'serviceProviderReference',
  'requirementConfiguration',
]);

function requirementsOf({ text }: Answer): Json {
  return JSON.parse(text).data.outgoingTransfer.requirementConfiguration;
}

/** By the decisions: the state of each requirement in a dry run, given the answer to the creation. */
function foreseen(of: TransferCase, { transferDate, totalAmount, requirementConfiguration }: Json): Json {
  if (transferDate > TODAY) return requirementConfiguration;
  const isCovered = of.source.postedMinor >= Math.round(totalAmount * 100);
  const balanceCheckStatus = isCovered ? 'fulfilled' : 'not-fulfilled';
  return { ...requirementConfiguration, transferDateStatus: 'fulfilled', balanceCheckStatus };
}

/** Neither a review nor an account kept the creation from checking date and balance. */
function isDecidedAtOnce({ waiting_for: waitingFor }: Json): boolean {
  return waitingFor !== 'compliance' && waitingFor !== 'account';
}

function requirementsOfRow(row: Json): Json {
  return {
    transferDateStatus: row.transfer_date_status,
    complianceCheckStatus: row.compliance_check_status,
    balanceCheckStatus: row.balance_check_status,
    authorizationStatus: row.authorization_status,
  };
}

/** A dry run gets the creation's rejection, or the transfer without the fields that only an existing one has. */
function planned(answer: Answer): unknown {
  if (answer.status >= 400) return answer;
  const transfer: Record<string, unknown> = JSON.parse(answer.text).data.outgoingTransfer;
  return Object.fromEntries(Object.entries(transfer).filter(([name]) => !OF_EXISTING_ALONE.has(name)));
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('one for each');
  return value;
}
