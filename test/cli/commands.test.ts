import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { COMMANDS } from '../../cli/commands.ts';
import { type Command, type Given, type Option, titleOf } from '../../cli/program/command.ts';
import { EXIT_STATUSES } from '../../cli/program/exit-statuses.ts';
import { type Json, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { inlinedPaths } from '../harness/http/openapi.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { oneIn } from '../tools/run/length.ts';
import { type FasUser, fasUser, jsonLines } from './fas-runs.ts';

// What holds for every command of fas, new ones too.

const ID = '01a2160e-d86f-7053-b7fc-75e61b6a7026';
const SECRET = 'a-password-of-postgres';

let database: TestDatabase;
let api: TestApi;
/** Rejects everything, and says in each answer which token it was sent. */
let telltale: Server;
let requestCount = 0;
let lastHeaders: IncomingHttpHeaders = {};
let user: FasUser;
/** Of a machine user with every command's role but none of the others. */
let keyFile: string;
let dataFile: string;

beforeAll(async () => {
  database = await createTestDatabase('fas_commands');
  api = await startApi(database);
  user = fasUser();
  telltale = createServer((request, response) => {
    requestCount += 1;
    lastHeaders = request.headers;
    const message = `No: ${request.headers.authorization}`;
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ code: 'no', message }));
  });
  await once(telltale.listen(0, '127.0.0.1'), 'listening');
  keyFile = user.file('key.pem', api.users.admin.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  dataFile = user.file('data.json', '{"workflow":{"code":"direct"},"data":{}}');
});

afterAll(async () => {
  telltale?.close();
  await api?.stop();
  await database?.drop();
  user?.remove();
});

function environment(baseUrl: string, databaseUrl: string, mode: 'test' | 'live'): NodeJS.ProcessEnv {
  const { id, kid } = api.users.admin;
  return {
    FAS_BASE_URL: baseUrl,
    FAS_MODE: mode,
    FAS_MACHINE_USER: id,
    FAS_KEY_FILE: keyFile,
    FAS_KEY_ID: kid,
    FAS_AUDIENCE: TEST_AUDIENCE,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
}

/** Where every request is rejected, and no statement gets anywhere. */
function nowhere(mode: 'test' | 'live'): NodeJS.ProcessEnv {
  const address = telltale.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const databaseUrl = `postgres://someone:${SECRET}@127.0.0.1:1/nowhere`;
  return environment(`http://127.0.0.1:${address.port}`, databaseUrl, mode);
}

function optionValue({ value, values, name }: Option): string {
  if (values?.[0] !== undefined) return values[0];
  if (name === 'data') return `@${dataFile}`;
  if (name === 'query') return 'metadata.page.size=1';
  return value === 'FILE' ? keyFile : ID;
}

function operandValue(name: string): string {
  if (name === 'PATH') return '/clients';
  return name.endsWith('_FILE') ? `@${dataFile}` : ID;
}

/** A command line that the command takes. */
function wordsOf(command: Command): string[] {
  const { operands = [], options = [] } = command;
  const [method] = operands[0]?.values ?? [];
  const given = operands.map(({ name, values }) => values?.[0] ?? operandValue(name));
  const required = options
    .filter(({ isRequired }) => isRequired)
    .flatMap((option) => [`--${option.name}`, optionValue(option)]);
  const first = command.name === 'api' && method !== undefined ? ['POST', `/clients/${ID}/x`] : given;
  return [...titleOf(command).split(' '), ...first, ...required];
}

function effectOf(command: Command): string {
  const { operands = [] } = command;
  const given: Given = { operands: wordsOf(command).slice(titleOf(command).split(' ').length), options: {} };
  return typeof command.effect === 'function'
    ? command.effect({ ...given, operands: given.operands.slice(0, operands.length) })
    : command.effect;
}

const SHOWN = COMMANDS.filter(({ isHidden }) => !isHidden);
const named = (commands: readonly Command[]) => commands.map((command) => [titleOf(command), command] as const);
const REMOTE = SHOWN.filter(({ reach }) => reach !== 'here');
const STATUSES: readonly (number | null)[] = Object.values(EXIT_STATUSES).map(({ status }) => status);

describe('every command', () => {
  test.each(named(oneIn(4, SHOWN)))(
    '%s rejects an option that it does not know, before anything else',
    async (_title, command) => {
      const { status, output, errors } = await user.run([...wordsOf(command), '--unknown'], nowhere('test'));
      expect({ status, output }).toEqual({ status: 3, output: '' });
      expect(errors).toMatch(/^Unknown option '--unknown'(\n.*)?\.\n$/);
    },
  );

  test.each(named(SHOWN))('%s says what it does and takes under --help', async (title, command) => {
    const { status, output, errors } = await user.run([...title.split(' '), '--help']);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    for (const { name } of command.operands ?? []) expect(output).toContain(name);
    for (const { name } of command.options ?? []) expect(output).toContain(`--${name}`);
    expect(output.replace(/\s+/g, ' ')).toContain(command.summary);
  });

  test.each(
    named(
      oneIn(
        4,
        SHOWN.filter(({ streams }) => streams === undefined),
      ),
    ),
  )('%s prints JSON and nothing else under --json, and no secret in an error', async (_title, command) => {
    const effect = effectOf(command);
    // What writes is shown only: other tests let it write.
    const words = [...wordsOf(command), '--json', ...(effect === 'reads' ? [] : ['--dry-run'])];
    for (const given of [environment(api.url, database.url, 'test'), nowhere('test')]) {
      const { status, output, errors } = await user.run(words, given);
      expect(STATUSES).toContain(status);
      expect(jsonLines(output).length).toBeLessThanOrEqual(1);
      expect(status !== 0 || output !== '', errors).toBe(true);
      jsonLines(errors);
      expect(`${output}${errors}`).not.toMatch(new RegExp(`${SECRET}|PRIVATE KEY|Bearer ey`));
    }
  });

  const writes = REMOTE.filter((command) => effectOf(command) !== 'reads');
  test.each(named(oneIn(4, writes)))(
    '%s names the world in which it writes, and --dry-run does nothing',
    async (_title, command) => {
      const before = requestCount;
      const { status, output, errors } = await user.run([...wordsOf(command), '--dry-run'], nowhere('live'));
      expect(errors).toMatch(/^\[LIVE\] /);
      expect(status, errors).toBe(0);
      expect(output).not.toBe('');
      const inTest = await user.run([...wordsOf(command), '--dry-run'], nowhere('test'));
      expect(inTest.errors).toMatch(/^\[TEST\] /);
      expect(requestCount).toBe(before);
    },
  );

  test.each(
    named(
      oneIn(
        4,
        REMOTE.filter((command) => effectOf(command) === 'dangerous'),
      ),
    ),
  )('%s does nothing where it is live until --confirm repeats what it acts on', async (_title, command) => {
    const words = wordsOf(command);
    const before = requestCount;
    const asked = await user.run([...words, '--json'], nowhere('live'));
    expect(asked.status, asked.errors).toBe(4);
    const wrong = await user.run([...words, '--confirm', 'another'], nowhere('live'));
    expect(wrong.status).toBe(4);
    expect(requestCount).toBe(before);
    const [, failure] = jsonLines(asked.errors) as { error: { confirm: string } }[];
    const confirmed = await user.run([...words, '--confirm', failure?.error.confirm ?? ''], nowhere('live'));
    expect(confirmed.errors).not.toMatch(/--confirm/);
    expect([1, 2]).toContain(confirmed.status);
    if (command.reach === 'api') expect(requestCount).toBe(before + 1);
    const inTest = await user.run(words, nowhere('test'));
    expect(inTest.errors).not.toMatch(/--confirm/);
  });
});

test.each(named(SHOWN.filter(({ reach }) => reach === 'installation')))(
  '%s takes no profile and no address of the API, which say nothing of a database',
  async (_title, command) => {
    for (const option of ['--profile', '--base-url']) {
      const { status, output, errors } = await user.run([...wordsOf(command), option, 'any'], nowhere('test'));
      expect({ status, output }).toEqual({ status: 3, output: '' });
      expect(errors).toMatch(new RegExp(`^${option} is of commands of the API: `));
    }
  },
);

const DOCUMENTED = Object.entries<Json>(inlinedPaths(ROUTES)).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
);
const bodyTypesOf = ({ requestBody }: Json) => Object.keys(requestBody?.content ?? {});
const hasKey = ({ parameters = [] }: Json) => parameters.some(({ name }: Json) => name === 'Idempotency-Key');

describe('fas api', () => {
  const pathOf = (title: string) => title.replace(/^\S+ /, '').replace(/\{\w+\}/g, ID);
  const wordsOfRoute = (title: string, operation: Json) => [
    ...['api', title.replace(/ .*/, ''), pathOf(title)],
    ...(bodyTypesOf(operation).length === 0 ? [] : ['--data', `@${dataFile}`]),
  ];
  const isOpen = ({ security }: Json) => security?.length === 0;
  const named = (routes: Readonly<typeof DOCUMENTED>) =>
    routes.map(({ title, operation }) => [title, operation] as const);
  const withSecret = DOCUMENTED.filter(({ title }) => title.includes('{token}'));
  const others = DOCUMENTED.filter((route) => !withSecret.includes(route));

  test.each(named(oneIn(4, others)))(
    '%s is sent with what the document says, and nothing else',
    async (title, operation) => {
      const words = wordsOfRoute(title, operation);
      await user.run(words, nowhere('test'));
      const { authorization, 'idempotency-key': key, 'content-type': type = null } = lastHeaders;
      const [bodyType = null] = bodyTypesOf(operation);
      const sent = { hasToken: authorization !== undefined, hasKey: key !== undefined, type };
      expect(sent).toEqual({ hasToken: !isOpen(operation), hasKey: hasKey(operation), type: bodyType });
      const { output } = await user.run([...words, '--dry-run', '--json'], nowhere('test'));
      if (!title.startsWith('GET ')) expect(Object.keys(JSON.parse(output).headers)).toEqual(shownHeaders(operation));
    },
  );

  function shownHeaders(operation: Json): string[] {
    return [
      'accept',
      ...(bodyTypesOf(operation).length === 0 ? [] : ['content-type']),
      ...(hasKey(operation) ? ['idempotency-key'] : []),
      ...(isOpen(operation) ? [] : ['authorization']),
    ];
  }

  test.each(
    named(
      oneIn(
        4,
        others.filter(({ operation }) => !hasKey(operation)),
      ),
    ),
  )('%s takes no key, as the service would keep nothing under it', async (title, operation) => {
    const before = requestCount;
    const words = [...wordsOfRoute(title, operation), '--idempotency-key', 'a-key'];
    const { status, errors } = await user.run(words, nowhere('test'));
    expect({ status, sent: requestCount - before }).toEqual({ status: 3, sent: 0 });
    expect(errors).toContain('keeps nothing under an Idempotency-Key');
  });

  test.each(named(withSecret))(
    '%s is called by its own command, as its path has a secret',
    async (title, operation) => {
      const before = requestCount;
      for (const prefix of ['', '/v1']) {
        for (const ending of ['', '/', '/more', '?more']) {
          for (const more of [[], ['--dry-run'], ['--json']]) {
            const path = `${prefix}${pathOf(title)}${ending}`;
            const [api = '', method = '', , ...data] = wordsOfRoute(title, operation);
            for (const mode of ['test', 'live'] as const) {
              const { status, output, errors } = await user.run([api, method, path, ...data, ...more], nowhere(mode));
              expect({ status, output }).toEqual({ status: 3, output: '' });
              expect(errors).toMatch(/fas sign-up (show|submit)/);
              expect(errors).not.toContain(ID);
            }
          }
        }
      }
      expect(requestCount).toBe(before);
    },
  );
});

test('--json and --no-color are options only where no operand or value is expected', async () => {
  const { output } = await user.run(['complete', '--', 'clients', 'list', '--json', '--no-c']);
  expect(output).toMatch(/^--no-color\t/);
  const wrong = await user.run(['clients', 'list', '--unknown', '--', '--json']);
  expect(wrong.errors).toBe("Unknown option '--unknown'.\n");
  const reason = await user.run(['submissions', 'close', '--dry-run', '--reason=--json'], nowhere('test'));
  expect(reason.output).toMatch(/^Not run: /);
});

test('what acts on nothing that is there and moves no money and gives no access needs no confirmation', () => {
  const harmless = REMOTE.filter((command) => effectOf(command) === 'writes').map(titleOf);
  expect(harmless).toMatchInlineSnapshot(`
    [
      "clients create",
      "clients migrate",
      "user-authentications authenticate-user",
      "beneficiaries create",
      "beneficiaries migrate",
      "beneficiary-verifications create",
      "beneficiary-verifications create-by-iban",
      "accounts create",
      "accounts migrate",
      "accounts create-sub-account",
      "trigger",
      "submissions close",
      "bank-files reject",
      "reconciliations run",
    ]
  `);
});
