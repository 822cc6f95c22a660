import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../api/http/route.ts';
import { fieldsSent } from '../../api/http/schemas/secrets.ts';
import { ROUTES } from '../../api/routes.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { secretRoutes } from '../harness/http/secret-routes.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('secret-fields');
  api = await startApi(database, { routes: secretRoutes });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const routes = [...ROUTES, ...secretRoutes].filter((route): route is Route => route.kind === 'route');

interface Secret {
  readonly route: Route;
  readonly code: string;
  /** From the body, `*` for the items of a list. */
  readonly path: string;
}

const secrets: readonly Secret[] = routes.flatMap((route) =>
  fieldsSent(route.contract).flatMap(({ code, path, isSecret }) => (isSecret ? [{ route, code, path }] : [])),
);

const CANARY = 'hunter2-canary';

/** What may be sent in place of a secret, each with the canary in it. */
const BAD_VALUES: Readonly<Record<string, unknown>> = {
  text: CANARY,
  'text with a control character': `${CANARY}\u0007`,
  'text with an invisible character': `${CANARY}\u200B`,
  'a lone surrogate': `${CANARY}\ud800`,
  'too much text': CANARY.repeat(5_000),
  'a list': [CANARY],
  'an object': { [CANARY]: CANARY, b: [CANARY] },
  'an object with a key that none may have': { constructor: CANARY },
  'an object with a control character in a key': { [`${CANARY}\u0007`]: 1 },
};

describe.each(
  secrets.map((secret) => [`${secret.route.contract.method} ${secret.route.contract.path}`, secret] as const),
)('%s echoes nothing of a secret', (_, secret) => {
  const shown = `${secret.code} ${secret.path}`;

  test.each(Object.keys(BAD_VALUES))(`in ${shown}, if it is %s`, async (kind) => {
    await sendsBack(secret, JSON.stringify(withValue(secret, BAD_VALUES[kind])));
  });

  test(`in ${shown}, whatever else is wrong with the body`, async () => {
    const whole = JSON.stringify(withValue(secret, CANARY));
    const at = whole.indexOf(`"${CANARY}"`);
    const replaced = (text: string) => whole.slice(0, at) + text + whole.slice(at + CANARY.length + 2);
    const name = secret.path.split('.').at(-1) === '*' ? '' : `"${secret.path.split('.').at(-1)}":`;
    await sendsBack(secret, replaced(`"${CANARY}",${name}"${CANARY}"`));
    await sendsBack(secret, replaced(`{"${CANARY}":1,"${CANARY}":2}`));
    await sendsBack(secret, replaced(`"\\x${CANARY}"`), CANARY, 'x');
    await sendsBack(secret, replaced(`"\\u12${CANARY}"`), '12hu');
    await sendsBack(secret, replaced('§'), '§');
    await sendsBack(secret, replaced(`${'7'.repeat(20)}x`), '777');
    await sendsBack(secret, whole.slice(0, at + 6));
    const inWrongPlace = withValue(secret, CANARY);
    await sendsBack(secret, JSON.stringify({ ...inWrongPlace, data: CANARY }));
    await sendsBack(secret, JSON.stringify({ ...inWrongPlace, stranger: CANARY }));
    await sendsBack(secret, JSON.stringify({ ...inWrongPlace, data: { ...inWrongPlace.data, stranger: CANARY } }));
    await sendsBack(
      secret,
      JSON.stringify({ ...inWrongPlace, workflow: { ...inWrongPlace.workflow, stranger: CANARY } }),
    );
  });
});

/** Sends a body and looks for the secret in the answer, and for what only the secret has. */
async function sendsBack({ route: { contract } }: Secret, body: string, ...parts: string[]): Promise<void> {
  const path = contract.path.replaceAll(/\{\w+\}/g, '0199c4b5-2c11-7d3e-8f0a-3b5d7e9f1a24');
  const [role = 'admin'] = contract.roles ?? ROLES;
  const answer = await api.call(contract.method, path, body, { as: role });
  // A part that its kind of key has no use for is taken, whatever it is.
  if (answer.status === 201) return expect(body).toContain(`"${CANARY}"`);
  expect(Math.floor(answer.status / 100), answer.text).toBe(4);
  const { messageParameters, message, errors = [] } = answer.body;
  const said = JSON.stringify([messageParameters, message, errors]);
  for (const part of [CANARY, ...parts]) expect(said).not.toContain(part === 'x' ? '\\x' : part);
}

/** The example of the route with another value at the secret's place. */
function withValue({ route: { contract }, code, path }: Secret, value: unknown): Json {
  const example = contract.examples.requests?.[code];
  const body: Json = structuredClone({ workflow: { code, ...example?.workflow }, data: example?.data });
  const names = path.split('.').map((name) => (name === '*' ? '0' : name));
  const last = names.pop() ?? '';
  let parent = body;
  for (const name of names) {
    parent[name] ??= {};
    parent = parent[name];
  }
  parent[last] = value;
  return body;
}

test('passwords and keys are among the secrets', () => {
  const found = secrets.map(({ route, path }) => `${route.contract.operationId} ${path}`);
  expect(found).toEqual(
    expect.arrayContaining([
      'authenticateUser data.password',
      'createMachineUser data.machineUser.key.jwk.n',
      'createMachineUser data.machineUser.key.pem',
      'createThirdPartyProvider data.thirdPartyProvider.jwks.keys.*.x',
    ]),
  );
});

/** Words that name a secret, as a word of a field's name. */
const SECRET_WORDS = /^(passwords?|secrets?|tokens?|assertions?|codes?|keys?|jwks?|pem|pin|credentials?|private)$/;

/** Names with such a word whose fields hold no secret. */
const NO_SECRETS: Readonly<Record<string, string>> = {
  code: 'of a workflow or a reason',
  'workflow.code': 'of a workflow',
  postalCode: 'of an address',
  countryCode: 'of a country',
  routingCodes: 'of banks',
  'data.account.routingCodeKey': 'of banks',
  'data.account.routingCodeValue': 'of banks',
  'data.beneficiaryBankAccount.routingCodeKey': 'of banks',
  'data.beneficiaryBankAccount.routingCodeValue': 'of banks',
  key: 'public, its parts marked',
  machineUserKey: 'public, its parts marked',
  jwk: 'public, its parts marked',
  jwks: 'public, its parts marked',
  keys: 'public, their parts marked',
  dpopBoundAccessTokens: 'whether there are such',
  key_ops: 'what a key is for',
  keyId: 'the id of a registered key',
};

test('every field whose name sounds like a secret is marked as one, or listed', () => {
  const unmarked = routes.flatMap(({ contract }) => [
    ...fieldsSent(contract).flatMap(({ path, isSecret }) => (isSecret ? [] : path.split('.'))),
    ...Object.keys(contract.query ?? {}),
    ...Object.keys(contract.params ?? {}),
  ]);
  const words = (name: string) => name.split(/(?=[A-Z])|[^A-Za-z]+/).map((word) => word.toLowerCase());
  const suspicious = unmarked.filter((name) => words(name).some((word) => SECRET_WORDS.test(word)));
  expect([...new Set(suspicious)].filter((name) => !Object.hasOwn(NO_SECRETS, name))).toEqual([]);
  expect(Object.keys(NO_SECRETS).filter((name) => !suspicious.includes(name))).toEqual([]);
});
