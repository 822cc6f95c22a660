import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { createAccounts } from '../../bench/accounts.ts';
import { internalTransfer, pairs } from '../../bench/cases/transfers.ts';
import { Callers, type LoadCommand } from '../../bench/load/callers.ts';
import { median } from '../../bench/load/measure.ts';
import { residentBytes } from '../../bench/load/processor-time.ts';
import { describeFailure } from '../../cli/common/actionable-error.ts';
import { isAlive, logTail, type RunningProcess, stopProcess } from '../../cli/common/processes.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { createSignUpLink } from '../../db/users/sign-ups.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { childProcess } from '../../dev/start/start-children.ts';
import { asId, type UserSignUpId } from '../../domain/common/ids.ts';
import { createTestMachineUser, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import type { AttackCommand, AttackReport } from './attacker.ts';
import { ATTACKS, type Target } from './attacks.ts';

/**
 * Attacks the API while callers pay, alternating with as many harmless requests: payments must not suffer, memory
 * must stay bounded, and every attack must get its proper answer. Run by `npm run test:long`.
 */

const ATTACKS_PER_SECOND = 50;
const PAYING_CALLERS = 16;
/** Rounds of each kind; the order alternates, so that disturbances affect both alike. */
const ROUNDS = 10;
const ROUND_SECONDS = 3;
/** As a share of the rate with harmless requests. */
const RATE_KEPT_MIN = 0.7;
const MEMORY_BYTES_MAX = 512 * 1024 ** 2;
const MEMORY_LOOK_MS = 200;
const READY_MS_MAX = 120_000;

interface Stage {
  readonly api: { readonly origin: string; readonly process: RunningProcess };
  readonly database: TestApi['database'];
  readonly target: Target;
  readonly payments: Omit<LoadCommand, 'seconds'>;
}

interface Rates {
  readonly attacks: number[];
  readonly harmless: number[];
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-abuse-'));
  const database = await createTestDatabase('abuse');
  const closers: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(directory, { recursive: true, force: true }),
    () => database.drop(),
  ];
  try {
    const stage = await setStage(directory, database, closers);
    const { rates, report, memoryBytes } = await attackByTurns(stage, closers);
    const violations = await checkLedger(stage.database.reader);
    finish(checksOf(rates, report, memoryBytes, violations.length));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** The API as a process of its own, without Temporal and worker: nothing here needs them. */
async function setStage(
  directory: string,
  database: TestDatabase,
  closers: (() => Promise<unknown> | unknown)[],
): Promise<Stage> {
  const local = await startApi(database);
  closers.push(() => local.stop());
  const sql = postgres(database.ownerUrl, { max: 1, onnotice: () => {} });
  closers.push(() => sql.end({ timeout: 1 }));
  const accounts = await createAccounts(sql);
  const payer = await createTestMachineUser(local.database, TEST_AUDIENCE, ['operator']);
  const port = await freePort();
  const logFile = join(directory, 'api.log');
  const running = await childProcess({
    entry: 'api/main.ts',
    environment: {
      ...process.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      SANDBOX_BANK_SECRET: randomBytes(32).toString('hex'),
      AUDIENCE: TEST_AUDIENCE,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      PORT: String(port),
      DATA_DIR: directory,
    },
    logFile,
    pidFile: join(directory, 'api.pid'),
  });
  closers.push(() => stopProcess(running, { graceMs: 15_000 }));
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(origin, running, logFile);
  const { viewer, operator } = local.users;
  return {
    api: { origin, process: running },
    database: local.database,
    target: {
      url: origin,
      viewerToken: viewer.token,
      viewerKid: viewer.kid,
      operatorToken: operator.token,
      signUpPath: `/sign-up/${await newSignUp(local)}`,
    },
    payments: {
      origin,
      method: 'POST',
      headers: { authorization: `Bearer ${payer.token}`, 'content-type': 'application/json' },
      requests: pairs(accounts, false).map(([from, to]) => internalTransfer(from, to)),
      idempotent: true,
      callers: PAYING_CALLERS,
    },
  };
}

async function untilReady(origin: string, running: RunningProcess, logFile: string): Promise<void> {
  const endsMs = performance.now() + READY_MS_MAX;
  for (;;) {
    const answer = await fetch(`${origin}/health/ready`).catch(() => null);
    if (answer?.status === 200) return;
    if (!isAlive(running) || performance.now() > endsMs)
      throw new Error(`The API did not start: ${logTail(logFile, 3)}`);
    await sleep(100);
  }
}

/** The link of an invitation that stays pending. */
async function newSignUp(api: TestApi): Promise<string> {
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
  const client = { identity, profile: { identityType: 'individual', residentialAddress: { country: 'GB' } } };
  const made = await api.call('POST', '/clients', { workflow: { code: 'direct' }, data: { client } });
  const invited = await api.call('POST', '/users', {
    workflow: { code: 'human.external.invitation' },
    data: {
      user: { email: 'ada.lovelace@example.com', identity },
      invitations: [{ clientId: made.body.data.client.id, userClientRelation: 'director' }],
    },
  });
  const id = asId<UserSignUpId>(invited.body.data.invitations[0].id);
  const token = randomBytes(32).toString('base64url');
  await api.database.transaction((tx) => createSignUpLink(tx, id, createHash('sha256').update(token).digest()));
  return token;
}

async function attackByTurns(stage: Stage, closers: (() => Promise<unknown> | unknown)[]) {
  const callers = new Callers();
  closers.push(() => callers.close());
  const attacker = fork(fileURLToPath(new URL('./attacker.ts', import.meta.url)), {
    execArgv: ['--import', import.meta.resolve('tsx')],
  });
  closers.push(() => attacker.disconnect());
  const memory = watchMemory(stage.api.process);
  const rates: Rates = { attacks: [], harmless: [] };
  const pay = () => callers.run({ ...stage.payments, seconds: ROUND_SECONDS });
  await pay();
  for (let round = 0; round < ROUNDS; round += 1) {
    const kinds = round % 2 === 0 ? (['attacks', 'harmless'] as const) : (['harmless', 'attacks'] as const);
    for (const kind of kinds) {
      const extent = { perSecond: ATTACKS_PER_SECOND, seconds: ROUND_SECONDS };
      const command: AttackCommand = { target: stage.target, kind, ...extent };
      // The callers end the run if a payment gets any answer but 201.
      const [{ count, elapsedMs }] = await Promise.all([pay(), ask(attacker, command)]);
      rates[kind].push(count / (elapsedMs / 1_000));
      say(`${kind}: ${Math.round(rates[kind].at(-1) ?? 0)} payments a second`);
    }
  }
  const report: AttackReport = JSON.parse(JSON.stringify(await ask(attacker, 'report')));
  return { rates, report, memoryBytes: memory.stop() };
}

function ask(attacker: ChildProcess, command: AttackCommand | 'report'): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error("the attackers' process ended"));
    attacker.once('exit', onExit);
    attacker.once('message', (message) => {
      attacker.off('exit', onExit);
      resolve(message);
    });
    attacker.send(command);
  });
}

/** The process's peak; null if the system does not report it. */
function watchMemory({ pid }: RunningProcess): { stop(): number | null } {
  if (!existsSync(`/proc/${pid}/status`)) return { stop: () => null };
  let most = 0;
  const look = () => {
    most = Math.max(most, residentBytes(pid));
  };
  const looking = setInterval(look, MEMORY_LOOK_MS);
  return {
    stop: () => {
      look();
      clearInterval(looking);
      return most;
    },
  };
}

interface Check {
  readonly name: string;
  readonly problem: string | null;
}

function checksOf(rates: Rates, report: AttackReport, memoryBytes: number | null, violations: number): Check[] {
  const [attacked, calm] = [median(rates.attacks), median(rates.harmless)];
  const kept = attacked / calm;
  const mebibytes = memoryBytes === null ? null : Math.round(memoryBytes / 1024 ** 2);
  const rate = `${Math.round(attacked)} payments a second under attack, ${Math.round(calm)} with harmless requests: ${kept.toFixed(2)}`;
  return [
    ...ATTACKS.map(({ name, answers }) => {
      const { sent, wrong } = report;
      const got = [...new Set(wrong[name] ?? [])].join(', ');
      const right = answers.map((answer) => answer ?? 'a closed connection').join(' or ');
      if ((sent[name] ?? 0) === 0) return { name, problem: 'was never sent' };
      return { name, problem: got === '' ? null : `got ${got} where ${right} is due` };
    }),
    { name: rate, problem: kept >= RATE_KEPT_MIN ? null : `less than ${RATE_KEPT_MIN}` },
    {
      name: `the API held ${mebibytes ?? 'an unknown number of'} MiB at most`,
      problem: mebibytes === null || mebibytes * 1024 ** 2 < MEMORY_BYTES_MAX ? null : 'more than 512 MiB',
    },
    { name: 'the ledger holds', problem: violations === 0 ? null : `${violations} invariants are broken` },
  ];
}

function finish(checks: readonly Check[]): void {
  for (const { name, problem } of checks) say(problem === null ? `  ✓ ${name}` : `  × ${name}: ${problem}`);
  const failed = checks.filter(({ problem }) => problem !== null).length;
  say(`${checks.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function say(line: string): void {
  console.log(line);
}

main().catch((error: unknown) => {
  console.log(`The abuse run could not be made: ${describeFailure(error)}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
});
