import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { Reader } from '../../db/query/database.ts';
import {
  claimAuthenticationAttempt,
  findUserByAddress,
  type LimitedHash,
  resetFailedAttempts,
} from '../../db/users/authentications.ts';
import { isKnownDevice, keepKnownDevice } from '../../db/users/known-devices.ts';
import { requestPasswordReset } from '../../db/users/password-resets.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { UserId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { type FailureLimit, isIpAddress, limitsOf } from '../../domain/users/authentications.ts';
import { presentUser } from '../../domain/users/users.ts';
import { HttpRejection } from '../http/errors.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { email } from '../http/schemas/parties.ts';
import { dateTime, fields, hint, optional, text, uuid } from '../http/schemas/schemas.ts';
import { secret } from '../http/schemas/secrets.ts';
import { isPassword } from './password-hashes.ts';
import { USER_EXAMPLE, userShown } from './schemas.ts';

const TAG = 'Users';

/** Any text: text that cannot be a password is a wrong password. */
const password = secret(v.pipe(v.string('must be text'), hint<string>({ format: 'password', writeOnly: true })));

export const ADDRESS_EXAMPLE = 'ada@example.com';
export const PASSWORD_EXAMPLE = 'wandering otters sing';
const DEVICE_TOKEN_EXAMPLE = 'Zm91cnR5LXRocmVlIGxldHRlcnMgb2YgYSBkZXZpY2U';

const DEVICE_TOKEN_LENGTH_MAX = 128;

/** Where the sign-in comes from, as the front office sees it. */
const source = named(
  'SignInSource',
  fields({
    ipAddress: v.pipe(
      v.string('must be an IP address'),
      v.check(isIpAddress, 'must be an IP address'),
      v.description('An IPv4 or IPv6 address, such as 203.0.113.7 or 2001:db8::7'),
    ),
    deviceToken: optional(
      secret(
        v.pipe(
          v.string('must be text'),
          v.maxLength(DEVICE_TOKEN_LENGTH_MAX, `must have at most ${DEVICE_TOKEN_LENGTH_MAX} characters`),
        ),
      ),
    ),
  }),
);

/**
 * Not an idempotent write: a row for the Idempotency-Key would hold a fast hash of a body with a password, and
 * an answer that outlives the password.
 */
const authenticateUser = route(
  {
    method: 'POST',
    path: '/user-authentications',
    operationId: 'authenticateUser',
    summary: 'Check the e-mail address and the password of a user',
    description:
      'For a front office that keeps its own sessions. An unknown address, a wrong password, a user without a password and an inactive user get the same response. Further attempts get 429 after this many failures in 15 minutes: ten for one address from one `source` (or without one), 50 from one source across all addresses, 100 for one address across all sources. With a `source`, the response contains `data.source.deviceToken`: keep it on the person’s device (in a cookie that scripts cannot read) and send it with the next sign-in from that device. The device then has only its own limit of ten, so strangers cannot lock its owner out. It stays known for 90 days after its last sign-in, or until the password is reset. An `Idempotency-Key` has no effect: every request is checked again.',
    tag: TAG,
    roles: ['operator'],
    workflows: {
      password: {
        data: fields({ user: named('UserAddress', fields({ email: email() })), password, source: optional(source) }),
      },
    },
    response: fields({
      user: userShown,
      source: optional(named('SignInDevice', fields({ deviceToken: text(DEVICE_TOKEN_LENGTH_MAX) }))),
    }),
    status: 200,
    errors: ['user.authentication.failed'],
    examples: {
      requests: {
        password: {
          data: {
            user: { email: ADDRESS_EXAMPLE },
            password: PASSWORD_EXAMPLE,
            source: { ipAddress: '203.0.113.7', deviceToken: DEVICE_TOKEN_EXAMPLE },
          },
        },
      },
      response: { user: { ...USER_EXAMPLE, email: ADDRESS_EXAMPLE }, source: { deviceToken: DEVICE_TOKEN_EXAMPLE } },
    },
  },
  async ({ body: { data }, services: { database } }) => {
    const key = emailKey(data.user.email);
    const device = await knownDevice(database.reader, key, data.source?.deviceToken);
    const limited = limitsOf(key, data.source?.ipAddress ?? null, device).map((one) => limitedHash(key, one));
    const attempt = await database.transaction((tx) => claimAuthenticationAttempt(tx, limited));
    if (!attempt.allowed) throw tooManyFailures(attempt.retryAfterSeconds);
    const user = await findUserByAddress(database.reader, key);
    const isCorrect = await isPassword(data.password, user?.passwordHash ?? null);
    if (user === null || !isCorrect || user.status !== 'active') throw notAuthenticated();
    const deviceToken = device === null ? newDeviceToken() : (data.source?.deviceToken ?? '');
    await database.transaction(async (tx) => {
      await resetFailedAttempts(tx, limited, attempt.attemptedAt);
      if (data.source !== undefined) await keepKnownDevice(tx, user.id, hashOf(deviceToken));
    });
    return { data: { user: presentUser(user), ...(data.source === undefined ? {} : { source: { deviceToken } }) } };
  },
);

/** The name for the separate limit of a known device of this user; null for any other token. */
async function knownDevice(reader: Reader, key: string, deviceToken: string | undefined): Promise<string | null> {
  const tokenHash = hashOf(deviceToken ?? '');
  return (await isKnownDevice(reader, key, tokenHash)) ? tokenHash.toString('hex') : null;
}

function limitedHash(key: string, { name, isOfAddress, failuresMax }: FailureLimit): LimitedHash {
  return { hash: hashOf(name), ofAddressHash: isOfAddress ? addressHash(key) : null, failuresMax };
}

/** 32 random bytes in base64url. */
function newDeviceToken(): string {
  return randomBytes(32).toString('base64url');
}

const postPasswordReset = route(
  {
    method: 'POST',
    path: '/users/{userId}/password-reset',
    operationId: 'resetUserPassword',
    summary: 'E-mail a user a link for setting a new password',
    description:
      'The link works once, for an hour, and replaces an earlier one. The old password works until the new one is set.',
    tag: TAG,
    roles: ['operator'],
    params: { userId: uuid<UserId>() },
    workflows: { direct: { data: fields({}) } },
    response: fields({
      passwordReset: named('PasswordReset', fields({ id: uuid(), userId: uuid<UserId>(), expiryDateTime: dateTime() })),
    }),
    errors: ['common.coding.internal.record_not_found', 'user.status.not_active', 'user.password.not_set'],
    examples: {
      requests: { direct: { data: {} } },
      response: {
        passwordReset: {
          id: '0199c4b5-2c11-7d3e-8f0a-3b5d7e9f1a24',
          userId: USER_EXAMPLE.id,
          expiryDateTime: '2026-03-02T10:30:00',
        },
      },
    },
  },
  async ({ params: { userId }, initiator, transaction }) =>
    transaction(async (tx) => {
      const { id, expiresAt } = await requestPasswordReset(tx, userId, initiator);
      return { data: { passwordReset: { id, userId, expiryDateTime: formatDateTime(expiresAt) } } };
    }),
);

/** Failures are counted under this hash, so that the address itself is not stored. */
export function addressHash(key: string): Buffer {
  return hashOf(key);
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function notAuthenticated() {
  const message = 'No active user has this e-mail address and this password.';
  return rejection('user.authentication.failed', ['user', 'email', ''], message);
}

function tooManyFailures(retryAfterSeconds: number): HttpRejection {
  const problem = {
    code: 'common.rate.limited',
    message: `Too many sign-ins have failed: retry in ${retryAfterSeconds} s.`,
    messageParameters: ['user', 'email', ''],
  } as const;
  return new HttpRejection(429, problem, { 'retry-after': String(retryAfterSeconds) }, 'password-locked');
}

export const userAuthenticationRoutes = [authenticateUser, postPasswordReset];
