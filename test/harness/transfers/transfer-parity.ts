import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import postgres from 'postgres';
import { Pool } from 'undici';
import { ERROR_STATUS } from '../../../api/frame/errors.ts';
import { parseJson, stringify } from '../../../api/frame/requests/json.ts';
import { checkLedger } from '../../../db/ledger/check.ts';
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
  expectedRefusal,
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
 * without locks or under them, for now or with today's date, alone or with others of its moment, in a batch of either mode, or as a dry run.
 */

const BATCH = 240;
/** Batches under way at once: while Postgres stages one, this process compares another. */
const BATCHES_AT_ONCE = 2;
/** APIs whose requests come one after another, so that each is alone in its statement. */
const LANES = 4;
/** Of random cases, because a dry run costs as much as a transfer. */
const DRY_RUN_OF_CASES = 8;

export interface ParityService {
  readonly api: TestApi;
  readonly underLocks: TestApi;
  readonly lanes: readonly TestApi[];
  readonly callers: ReadonlyMap<TestApi, Pool>;
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
  // What requests left behind is found by their transfers, which the service itself never does.
  await database.asOwner('CREATE INDEX ON events (resource_id)');
  await database.asOwner('CREATE INDEX ON postings (outgoing_transfer_id)');
  return {
    api,
    underLocks,
    lanes,
    callers,
    stop: async () => {
      for (const caller of callers.values()) await caller.close();
      for (const one of [underLocks, ...lanes]) await one.stop();
      await api.stop();
      await database.drop();
    },
  };
}

/** Differences in so many random cases, each reported when it is found, and the books' violations. */
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
  const violations = (await checkLedger(service.api.database.reader)).map((violation) => JSON.stringify(violation));
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
const WAYS = ['dry run', 'together', 'alone', 'under locks', "with today's date", ...BATCHED] as const;
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

/** A token for one batch: a million cases take longer than a token may live. */
function batchToken({ api }: ParityService): Promise<string> {
  const issuedAt = Math.floor(api.services.now().getTime() / 1000);
  return signToken(api.users.operator, { aud: TEST_AUDIENCE, iat: issuedAt, exp: issuedAt + 3_600 });
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
  const token = await batchToken(service);
  for (const way of WAYS) {
    const taking = sent.filter((one) => one.way === way);
    const sendTo = async (api: TestApi, one: Sent) => void answers.set(one, await send(service, token, api, one));
    if (isBatched(way)) {
      await sendBatches(service, token, taking, (one, answer) => answers.set(one, answer));
    } else if (way === 'alone') {
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
    for (const [index, one] of part.entries()) answered(one, answerAlone(workflow, data.results[index]));
  }
}

/** The result of an item as the answer to its transfer alone. */
function answerAlone(workflow: string, { error, outgoingTransfer }: Json): Answer {
  if (error === undefined) return { status: 201, text: envelopeOf(workflow, stringify(outgoingTransfer)) };
  return { status: ERROR_STATUS[error.code as keyof typeof ERROR_STATUS], text: JSON.stringify(error) };
}

function envelopeOf(workflow: string, transfer: string): string {
  return `{"workflow":${workflow},"data":{"outgoingTransfer":${transfer}},"connect":{},"metadata":{}}`;
}

/** The ways that lead to the same place: today's date is the one that an internal transfer without a date gets. */
function waysOf(of: TransferCase): readonly Way[] {
  const dated = of.scope === 'internal' && of.transferDate === null;
  return ['together', 'alone', 'under locks', ...(dated ? (["with today's date"] as const) : []), ...BATCHED];
}

/**
 * A case's situation and the requests sent in it. Where the rules refuse, nothing changes, so all ways share one
 * situation; where they accept, each way has its own, except that the dry run comes before another.
 */
interface Situation extends Watched {
  readonly sent: readonly Sent[];
}

function situationsOf(of: TransferCase, isTriedFirst: boolean): readonly Situation[] {
  const dryRun = isTriedFirst ? (['dry run'] as const) : [];
  const [first, ...others] = waysOf(of);
  const isRefused = expectedRefusal(stageIds(of)) !== null;
  const groups = isRefused
    ? [[...dryRun, ...waysOf(of).filter((way) => way !== 'in a batch of all or none')]]
    : [[...dryRun, present(first)], ...others.map((way) => [way])];
  return groups.map((group) => {
    const staged = stageIds(of);
    const sent = group.map((way) => ({ way, staged, key: randomUUID() }));
    return { staged, sent, keys: sent.map(({ key }) => key) };
  });
}

/** What one way led to. */
interface Outcome {
  readonly way: Way;
  readonly answer: Answer;
  /** What a repeated request gets. */
  readonly kept: string | undefined;
  readonly observed: Observed;
}

/** Disagreements between the ways of each case, or with the rules. Every so many cases are tried as a dry run too. */
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
      kept: isBatched(one.way) ? keptAlone(one, observed.kept[place]) : observed.kept[place],
      observed,
    };
  });
}

/** What an item's reference keeps, as the key of its transfer alone keeps it. */
function keptAlone({ staged }: Sent, kept: string | undefined): string | undefined {
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
  compare('by the rules', refusalOf(first.answer), expectedRefusalNamed(staged));
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
  if (first.answer.status >= 400) compare('refused', JSON.parse(first.observed.traces), untouched(staged));
  return differences;
}

/** The traces of a situation in which nothing happened. */
function untouched({ case: { source, destination } }: Staged): Json {
  const accounts = Object.entries({ source, destination })
    .filter(([, account]) => account.known)
    .map(([name, { status, postedMinor }]) => [name, status, postedMinor, 0, 0, postedMinor > 0 ? 1 : 0, false, false]);
  return { outgoing: [], incoming: [], postings: [], accounts: accounts.reverse(), wakeups: [] };
}

/** Where two values begin to differ, as JSON. */
function differenceOf(actual: unknown, expected: unknown): string {
  const [one, other] = [JSON.stringify(actual) ?? 'nothing', JSON.stringify(expected) ?? 'nothing'];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 80);
  return `${one.slice(from, at + 160)} instead of ${other.slice(from, at + 160)}`;
}

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly field: string;
  readonly value: string;
}

function refusalOf({ status, text }: Answer): Refused | null {
  if (status < 400) return null;
  const { code, messageParameters, errors } = JSON.parse(text);
  const [entity, field, value] = messageParameters;
  if (entity !== 'outgoingTransfer' || errors !== undefined) throw new Error(`not a refusal of a transfer: ${text}`);
  return { status, code, field, value };
}

function expectedRefusalNamed(staged: Staged): Refused | null {
  const expected = expectedRefusal(staged);
  if (expected === null) return null;
  const name = Object.entries(staged).find(([, value]) => value === expected.value)?.[0] ?? expected.value;
  return { ...expected, value: name };
}

const OF_EXISTING_ALONE = new Set([
  'id',
  'transactionNumber',
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

/** By the decisions: what a dry run says of each requirement, given what its creation answers. */
function foreseen(of: TransferCase, { transferDate, totalAmount, requirementConfiguration }: Json): Json {
  if (transferDate > TODAY) return requirementConfiguration;
  const isCovered = of.source.postedMinor >= Math.round(totalAmount * 100);
  const balanceCheckStatus = isCovered ? 'fulfilled' : 'not-fulfilled';
  return { ...requirementConfiguration, transferDateStatus: 'fulfilled', balanceCheckStatus };
}

/** Neither a review nor an account kept its creation from looking at date and balance. */
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

/** A dry run gets the creation's refusal, or the transfer without the fields that only an existing one has. */
function planned(answer: Answer): unknown {
  if (answer.status >= 400) return answer;
  const transfer: Record<string, unknown> = JSON.parse(answer.text).data.outgoingTransfer;
  return Object.fromEntries(Object.entries(transfer).filter(([name]) => !OF_EXISTING_ALONE.has(name)));
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('one for each');
  return value;
}
