import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  claimAuthenticationAttempt,
  findUserByAddress,
  forgiveAuthenticationAttempt,
} from '../../db/users/authentications.ts';
import { requestPasswordReset } from '../../db/users/password-resets.ts';
import { refusal } from '../../domain/frame/errors.ts';
import type { UserId } from '../../domain/frame/ids.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import { formatDateTime } from '../../domain/frame/time/dates.ts';
import { presentUser } from '../../domain/users/users.ts';
import { HttpRefusal } from '../frame/errors.ts';
import { route } from '../frame/route.ts';
import { named } from '../frame/schemas/named.ts';
import { email } from '../frame/schemas/parties.ts';
import { dateTime, fields, hint, uuid } from '../frame/schemas/schemas.ts';
import { secret } from '../frame/schemas/secrets.ts';
import { isPassword } from './password-hashes.ts';
import { USER_EXAMPLE, userShown } from './schemas.ts';

const TAG = 'Users';

/** Any text: one that can be nobody's password is a wrong password. */
const password = secret(v.pipe(v.string('must be text'), hint<string>({ format: 'password', writeOnly: true })));

export const ADDRESS_EXAMPLE = 'ada@example.com';
export const PASSWORD_EXAMPLE = 'wandering otters sing';

/**
 * Not a write: nothing is stored under the Idempotency-Key, whose row would hold a fast hash of a body with a password, and
 * whose answer would outlive the password.
 */
const authenticateUser = route(
  {
    method: 'POST',
    path: '/user-authentications',
    operationId: 'authenticateUser',
    summary: 'Check the e-mail address and the password of a user',
    description:
      'For the front office, which keeps its own sessions. An unknown address, a wrong password, a user without a password and an inactive user are one answer. Ten failures of an address in 15 minutes: 429. An `Idempotency-Key` has no effect: every request checks anew.',
    tag: TAG,
    roles: ['operator'],
    workflows: { password: { data: fields({ user: named('UserAddress', fields({ email: email() })), password }) } },
    response: fields({ user: userShown }),
    status: 200,
    errors: ['user.authentication.failed'],
    examples: {
      requests: { password: { data: { user: { email: ADDRESS_EXAMPLE }, password: PASSWORD_EXAMPLE } } },
      response: { user: { ...USER_EXAMPLE, email: ADDRESS_EXAMPLE } },
    },
  },
  async ({ body, services: { database } }) => {
    const key = emailKey(body.data.user.email);
    const attempt = await database.transaction((tx) => claimAuthenticationAttempt(tx, addressHash(key)));
    if (!attempt.allowed) throw tooManyFailures(attempt.retryAfterSeconds);
    const user = await findUserByAddress(database.reader, key);
    const isCorrect = await isPassword(body.data.password, user?.passwordHash ?? null);
    if (user === null || !isCorrect || user.status !== 'active') throw notAuthenticated();
    await database.transaction((tx) => forgiveAuthenticationAttempt(tx, addressHash(key), attempt.attemptedAt));
    return { data: { user: presentUser(user) } };
  },
);

const postPasswordReset = route(
  {
    method: 'POST',
    path: '/users/{userId}/password-reset',
    operationId: 'resetUserPassword',
    summary: 'Mail a user a link to a new password',
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
  async ({ params: { userId }, initiator, writeAlone }) =>
    writeAlone(async (tx) => {
      const { id, expiresAt } = await requestPasswordReset(tx, userId, initiator);
      return { data: { passwordReset: { id, userId, expiryDateTime: formatDateTime(expiresAt) } } };
    }),
);

/** Failures are counted under this, so that the address itself is not kept. */
export function addressHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function notAuthenticated() {
  const message = 'No active user has this e-mail address and this password.';
  return refusal('user.authentication.failed', ['user', 'email', ''], message);
}

function tooManyFailures(retryAfterSeconds: number): HttpRefusal {
  const problem = {
    code: 'common.rate.limited',
    message: `Too many sign-ins with this address have failed: retry in ${retryAfterSeconds} s.`,
    messageParameters: ['user', 'email', ''],
  } as const;
  return new HttpRefusal(429, problem, { 'retry-after': String(retryAfterSeconds) });
}

export const userAuthenticationRoutes = [authenticateUser, postPasswordReset];
