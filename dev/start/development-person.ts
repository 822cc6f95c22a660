import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { hashPassword, isPassword } from '../../api/users/password-hashes.ts';
import { ActionableError, describeFailure } from '../../cli/common/actionable-error.ts';
import type { Endpoints } from '../../cli/common/endpoints.ts';
import { commandInitiator } from '../../cli/common/initiator.ts';
import { developmentPassword } from '../../cli/common/local-secrets.ts';
import { createDatabase } from '../../db/client.ts';
import { readClock } from '../../db/common/clock.ts';
import type { Database } from '../../db/query/database.ts';
import { findUserByAddress } from '../../db/users/authentications.ts';
import { insertUserClientRelations } from '../../db/users/client-relations.ts';
import { insertUser } from '../../db/users/users.ts';
import { asId, type ClientId } from '../../domain/common/ids.ts';
import { NO_PROFILE } from '../../domain/users/users.ts';
import { type Answer, type Call, callService, codeOf, read } from '../../sandbox/service/service.ts';
import { developmentToken } from './development-users.ts';
import type { Supervisor } from './supervisor.ts';

const EMAIL = 'caroline.herschel@example.com';
const GIVEN_NAME = 'Caroline';
const FAMILY_NAME = 'Herschel';
const PROVIDER = 'sandbox-bank';

const ACCOUNTS = [
  { alias: 'Everyday', amount: 1_250 },
  { alias: 'Savings', amount: 8_000 },
] as const;

const WAIT_MS_MAX = 30_000;
const POLL_MS = 50;

const ClientAnswer = v.object({ data: v.object({ client: v.object({ id: v.string() }) }) });
const AccountAnswer = v.object({
  data: v.object({ account: v.object({ id: v.string(), status: v.string(), iban: v.nullable(v.string()) }) }),
});

/**
 * The lines that the start prints about trying a consent, with a person who can sign in and has accounts with money. They are
 * created once, by the service itself; if that fails, the service runs nevertheless, and the next start tries again.
 */
export async function consentWalk(
  dataDirectory: string,
  endpoints: Endpoints,
  supervisor: Pick<Supervisor, 'stopping'>,
): Promise<string> {
  const address = `${endpoints.sandboxUrl}/third-party`;
  try {
    const password = developmentPassword(dataDirectory);
    const token = await developmentToken(dataDirectory, endpoints, { role: 'operator', now: new Date() });
    const database = createDatabase({ url: endpoints.databaseUrl, maxConnections: 1, applicationName: 'start' });
    const world = { endpoints, token, isOver: () => supervisor.stopping };
    const isOurs = await makePersonOnce(database, world, password).finally(() => database.close());
    return `
Walk through a consent in a browser: ${address}
  Sign in as ${EMAIL} with ${isOurs ? `the password ${password}` : 'the password that has been set since'}
`;
  } catch (error) {
    return `
The person who walks through a consent at ${address} could not be made: ${describeFailure(error)}
`;
  }
}

interface World {
  readonly endpoints: Pick<Endpoints, 'apiUrl' | 'publicUrl' | 'audience' | 'sandboxUrl'>;
  readonly token: string;
  isOver(): boolean;
}

/** The user is created last, and shows that everything else exists. False if its password has been changed since. */
async function makePersonOnce(database: Database, world: World, password: string): Promise<boolean> {
  const known = await findUserByAddress(database.reader, EMAIL);
  if (known !== null) return isPassword(password, known.passwordHash);
  const client = {
    identity: { type: 'individual', givenName: GIVEN_NAME, familyName: FAMILY_NAME, country: 'GB' },
    profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'Bath' } },
  };
  const made = await created(world, { path: '/clients', code: 'direct', data: { client }, key: 'client' });
  const clientId = read(ClientAnswer, made).data.client.id;
  await Promise.all(ACCOUNTS.map((account) => openAccount(world, clientId, account)));
  const passwordHash = await hashPassword(password);
  const initiator = commandInitiator();
  await database.transaction(async (tx) => {
    const identity = { type: 'individual', givenName: GIVEN_NAME, familyName: FAMILY_NAME, birthDate: null } as const;
    const now = await readClock(tx);
    const user = { email: EMAIL, identity, profile: NO_PROFILE };
    const row = await insertUser(tx, user, { passwordHash, now, initiator });
    if (row !== null) await insertUserClientRelations(tx, row.id, [asId<ClientId>(clientId)], now, initiator);
  });
  return true;
}

async function openAccount(
  world: World,
  clientId: string,
  { alias, amount }: (typeof ACCOUNTS)[number],
): Promise<void> {
  const opened = await created(world, {
    path: '/accounts',
    code: 'client.issuing',
    data: { account: { clientId, currency: 'GBP', alias } },
    connect: { type: 'explicit', serviceProvider: PROVIDER },
    key: alias,
  });
  const { id } = read(AccountAnswer, opened).data.account;
  const iban = await ibanWhenActive(world, id);
  const payment = { amount, currency: 'GBP', scheme: 'faster-payments', senderName: 'William Herschel', iban };
  const bank = { ...world.endpoints, apiUrl: `${world.endpoints.sandboxUrl}/bank` };
  const paid = await callService(bank, { method: 'POST', path: '/payments-in', json: payment });
  if (paid.status !== 201) throw new ActionableError(`The sandbox bank rejected a payment in with ${paid.status}.`);
}

async function ibanWhenActive(world: World, id: string): Promise<string> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (performance.now() < deadline && !world.isOver()) {
    const answer = await called(world, { method: 'GET', path: `/accounts/${id}` });
    const { status, iban } = read(AccountAnswer, answer).data.account;
    if (status === 'active' && iban !== null) return iban;
    if (status === 'declined') break;
    await sleep(POLL_MS);
  }
  throw new ActionableError('The sandbox bank has not opened the account.');
}

interface Creation {
  readonly path: string;
  readonly code: string;
  readonly data: object;
  readonly connect?: object;
  /** Idempotency key, so that repeating an interrupted start creates nothing twice. */
  readonly key: string;
}

async function created(world: World, { path, key, code, ...rest }: Creation): Promise<Answer> {
  const json = { workflow: { code }, ...rest };
  const answer = await called(world, { method: 'POST', path, json, idempotencyKey: `development-person-${key}` });
  if (answer.status === 201) return answer;
  throw new ActionableError(`POST ${path} was rejected with ${answer.status} ${codeOf(answer)}.`);
}

function called({ endpoints, token }: World, call: Call): Promise<Answer> {
  return callService(endpoints, { ...call, bearer: token });
}
