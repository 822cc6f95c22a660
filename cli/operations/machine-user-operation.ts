import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import * as v from 'valibot';
import { readPublicKey } from '../../api/machine-users/keys.ts';
import {
  addMachineUserKey,
  changeMachineUser,
  createMachineUser,
  findMachineUser,
  listMachineUsers,
  type MachineUser,
  type NewMachineUserKey,
  revokeMachineUserKey,
} from '../../db/machine-users/machine-users.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import { asId, isUuid, type MachineUserId } from '../../domain/common/ids.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { TOKEN_ALGORITHMS, type TokenAlgorithm } from '../../domain/machine-users/machine-users.ts';
import { isRole, ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { ActionableError, errorMessage } from '../common/actionable-error.ts';
import type { OperationContext } from './operation.ts';

const USAGE = `Usage: npm run operate -- machine-user COMMAND [--json]
  register NAME --role R [--role R …] --key FILE   R: ${ROLES.join(', ')}
  add-key ID --key FILE
  revoke ID [--kid KID]
  list
FILE holds a public key as PEM (BEGIN PUBLIC KEY) or JWK. RSA keys sign with RS256 unless the JWK or --algorithm says PS256.`;

const NAME_LENGTH_MAX = 100;
const LIST_PAGE = 100;

interface Request {
  readonly context: OperationContext;
  readonly operand: string | undefined;
  readonly roles: readonly string[];
  readonly keyFile: string | undefined;
  readonly kid: string | undefined;
  readonly algorithm: string | undefined;
  /** Prints the outcome, as JSON with `--json`. */
  show(outcome: unknown, ...lines: string[]): void;
}

/** Registers machine users without the API, above all the first. Write access to the database is the authorization. */
export async function operateMachineUsers(context: OperationContext): Promise<0> {
  const [command = '', request] = readRequest(context);
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run === undefined) throw new ActionableError(USAGE);
  await run(request);
  return 0;
}

const COMMANDS: Readonly<Record<string, (request: Request) => Promise<void>>> = {
  register,
  'add-key': addKey,
  revoke,
  list,
};

async function register(request: Request): Promise<void> {
  const { database, initiator } = request.context;
  const name = readName(request.operand);
  const roles = readRoles(request.roles);
  const key = await readKey(request);
  const { id } = await database.transaction((tx) => createMachineUser(tx, { name, roles, key }, initiator));
  showKey(request, id, key);
}

async function addKey(request: Request): Promise<void> {
  const { database, initiator } = request.context;
  const id = readId(request.operand);
  const key = await readKey(request);
  const user = await database.transaction((tx) => addMachineUserKey(tx, id, key, initiator));
  if (user === null) throw recordNotFound('machineUser', 'id', id);
  showKey(request, id, key);
}

async function revoke(request: Request): Promise<void> {
  const { database, initiator } = request.context;
  const id = readId(request.operand);
  const { kid } = request;
  await database.transaction(async (tx) => {
    const user =
      kid === undefined
        ? ((await changeMachineUser(tx, id, { status: 'revoked' }, initiator))?.after ?? null)
        : await findMachineUser(tx, id);
    if (user === null) throw recordNotFound('machineUser', 'id', id);
    if (kid === undefined) return;
    const key = user.keys.find((candidate) => candidate.kid === kid);
    if (key === undefined) throw recordNotFound('machineUserKey', 'kid', kid);
    await revokeMachineUserKey(tx, id, key.id, initiator);
  });
  const what = kid === undefined ? 'Machine user' : `Key ${kid} of machine user`;
  request.show({ id, ...(kid === undefined ? {} : { kid }), status: 'revoked' }, `${what} ${id} is revoked.`);
}

async function list(request: Request): Promise<void> {
  const users: MachineUser[] = [];
  for (let page: readonly MachineUser[] | null = null; page === null || page.length === LIST_PAGE; ) {
    const { rows } = await listMachineUsers(
      request.context.database.reader,
      {},
      { size: LIST_PAGE, offset: users.length },
    );
    users.push(...rows);
    page = rows;
  }
  const lines = users.flatMap(({ id, name, roles, status, keys }) => [
    `${id}  ${status.padEnd(7)}  ${name}  (${roles.join(', ')})`,
    ...keys.map((key) => `    ${key.status.padEnd(7)}  ${key.algorithm}  ${key.kid}`),
  ]);
  const machineUsers = users.map(({ id, name, roles, status, keys }) => ({
    id,
    name,
    roles,
    status,
    keys: keys.map(({ kid, algorithm, status: keyStatus }) => ({ kid, algorithm, status: keyStatus })),
  }));
  request.show({ machineUsers }, ...(lines.length === 0 ? ['No machine user is registered.'] : lines));
}

function showKey(request: Request, id: MachineUserId, { kid, algorithm }: NewMachineUserKey): void {
  const claims = `Its tokens: ${algorithm}, "kid" as above, "iss" and "sub" the id, "aud" the service's AUDIENCE.`;
  request.show({ id, kid }, `id   ${id}`, `kid  ${kid}`, claims);
}

function readRequest(context: OperationContext): [string | undefined, Request] {
  try {
    const { values, positionals } = parseArgs({
      args: withJoinedKid(context.arguments),
      allowPositionals: true,
      options: {
        role: { type: 'string', multiple: true, default: [] },
        key: { type: 'string' },
        kid: { type: 'string' },
        algorithm: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    const [command, operand, ...tooMany] = positionals;
    if (tooMany.length > 0) throw new Error(`unexpected "${tooMany[0]}"`);
    const show = (outcome: unknown, ...lines: string[]) => {
      for (const line of values.json ? [JSON.stringify(outcome)] : lines) context.print(line);
    };
    const { role: roles, key: keyFile, kid, algorithm } = values;
    return [command, { context, operand, roles, keyFile, kid, algorithm, show }];
  } catch (error) {
    throw new ActionableError(`${errorMessage(error)}\n${USAGE}`, { cause: error });
  }
}

/** A thumbprint may begin with a dash, and would be taken for an option. */
function withJoinedKid(words: readonly string[]): string[] {
  const at = words.indexOf('--kid');
  const kid = at === -1 ? undefined : words[at + 1];
  return kid === undefined ? [...words] : [...words.slice(0, at), `--kid=${kid}`, ...words.slice(at + 2)];
}

function readName(name: string | undefined): string {
  if (name === undefined) throw new ActionableError(USAGE);
  const checked = checkText(name, NAME_LENGTH_MAX);
  if (typeof checked !== 'string') return checked.value;
  throw rejection(
    'common.validation.field_invalid',
    ['machineUser', 'name', ''],
    `The name is not usable: ${checked}.`,
  );
}

function readRoles(given: readonly string[]): Role[] {
  const names = given.flatMap((text) => text.split(',')).map((text) => text.trim());
  if (names.length === 0) throw new ActionableError(USAGE);
  return [
    ...new Set(
      names.map((name) => {
        if (isRole(name)) return name;
        const message = `There is no role "${name}": the roles are ${ROLES.join(', ')}.`;
        throw rejection('common.validation.field_invalid', ['machineUser', 'roles', name], message);
      }),
    ),
  ];
}

function readId(text: string | undefined): MachineUserId {
  const id = (text ?? '').toLowerCase();
  if (!isUuid(id)) throw new ActionableError(`Give the machine user by its id.\n${USAGE}`);
  return asId<MachineUserId>(id);
}

const PRIVATE = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const KID = /^[A-Za-z0-9_-]{1,128}$/;

const Jwk = v.object({
  kty: v.picklist(['RSA', 'EC', 'OKP']),
  crv: v.optional(v.string()),
  n: v.optional(v.string()),
  e: v.optional(v.string()),
  x: v.optional(v.string()),
  y: v.optional(v.string()),
  kid: v.optional(v.pipe(v.string(), v.regex(KID))),
  alg: v.optional(v.string()),
});

async function readKey(request: Request): Promise<NewMachineUserKey> {
  if (request.keyFile === undefined) throw new ActionableError(USAGE);
  return readKeyText(readKeyFile(request.keyFile), request.algorithm);
}

/** Validates the text of a key file, PEM or JWK, by the API's rules; the key's own algorithm unless another is given. */
export async function readKeyText(text: string, asked?: string): Promise<NewMachineUserKey> {
  if (PRIVATE.test(text)) throw unusable('is a private key. Keep it, and register the public one');
  const sent = text.startsWith('{') ? readJwk(text) : readPem(text);
  const algorithm = asked ?? sent.algorithm;
  if (!isAlgorithm(algorithm))
    throw unusable(`signs with ${algorithm}, not with one of ${TOKEN_ALGORITHMS.join(', ')}`);
  const { publicKey } = readPublicKey({ ...sent.key, kid: '', algorithm }, 'key');
  return { kid: sent.kid ?? (await calculateJwkThumbprint(publicKey, 'sha256')), algorithm, publicKey };
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ActionableError(`The key file cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

const ALGORITHM_OF_TYPE: Readonly<Record<string, TokenAlgorithm>> = {
  RSA: 'RS256',
  EC: 'ES256',
  OKP: 'EdDSA',
  rsa: 'RS256',
  ec: 'ES256',
  ed25519: 'EdDSA',
};

function readJwk(text: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw unusable('is neither PEM nor a JWK');
  }
  if (typeof parsed === 'object' && parsed !== null && PRIVATE_MEMBERS.some((member) => member in parsed)) {
    throw unusable('is a private key. Keep it, and register the public one');
  }
  const read = v.safeParse(Jwk, parsed);
  if (!read.success) {
    const field = v.getDotPath(read.issues[0]) ?? '';
    throw unusable(field === 'kid' ? 'has a kid that is not 1 to 128 of letters, digits, _ and -' : 'is not a JWK');
  }
  const { kid, alg, ...jwk } = read.output;
  return { key: { jwk }, kid, algorithm: alg ?? ALGORITHM_OF_TYPE[jwk.kty] };
}

function readPem(pem: string) {
  try {
    const { asymmetricKeyType = '' } = createPublicKey(pem);
    return { key: { pem }, kid: undefined, algorithm: ALGORITHM_OF_TYPE[asymmetricKeyType] ?? asymmetricKeyType };
  } catch {
    throw unusable('is neither PEM (BEGIN PUBLIC KEY) nor a JWK');
  }
}

function isAlgorithm(text: string | undefined): text is TokenAlgorithm {
  return TOKEN_ALGORITHMS.some((known) => known === text);
}

function unusable(reason: string) {
  return rejection('common.validation.field_invalid', ['machineUserKey', 'key', ''], `The key file ${reason}.`);
}
