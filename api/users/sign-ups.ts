import { createHash } from 'node:crypto';
import type { Initiator } from '../../db/common/audit-entries.ts';
import { DatabaseUnavailable, LockTimeout } from '../../db/postgres/failures.ts';
import { acceptPasswordReset } from '../../db/users/password-resets.ts';
import { acceptSignUp, findSignUp, rejectSignUp, type SignUp } from '../../db/users/sign-ups.ts';
import type { UserSignUpId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { isExpired } from '../../domain/users/invitations.ts';
import { checkPassword, type PasswordProblem } from '../../domain/users/passwords.ts';
import { type OpenAnswer, type OpenRequest, openRoute } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { addressHash } from './authentications.ts';
import { hashPassword } from './password-hashes.ts';
import { noticePage, signUpPage } from './sign-up-pages.ts';
import { type Language, type NoticeName, preferredLanguage } from './sign-up-texts.ts';

const TAG = 'Sign-up';
const FORM = 'application/x-www-form-urlencoded';

/** 32 bytes in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The longest password takes 6 kB in a form if every character is escaped. */
const FORM_BYTES_MAX = 8 * 1024;

const FORM_SCHEMA = {
  type: 'object',
  properties: {
    answer: { type: 'string', enum: ['accept', 'reject'], description: 'To an invitation' },
    password: { type: 'string', format: 'password', description: 'The new password, where the page asks for one' },
  },
} as const;

const RESPONSES = {
  200: 'The page, in English, German or French by Accept-Language',
  404: 'The link is not valid',
  410: 'The link has been used or withdrawn, or has expired',
  503: 'The service is temporarily unavailable',
} as const;

/** GET changes nothing: mail scanners follow links. */
const getSignUp = openRoute(
  {
    method: 'GET',
    path: '/sign-up/{token}',
    operationId: 'showSignUp',
    summary: 'Get the page of a link in an e-mail, for an invitation or a new password',
    tag: TAG,
    responses: RESPONSES,
  },
  async (request) =>
    withSignUp(request, async (language, found) => {
      const closed = closedAs(found);
      return closed === null ? signUpPage(language, found, null) : noticePage(language, closed);
    }),
);

/** The page's form. The link is the authorization, so other sites cannot submit it. */
const postSignUp = openRoute(
  {
    method: 'POST',
    path: '/sign-up/{token}',
    operationId: 'submitSignUp',
    summary: 'Accept an invitation, with a new password, or reject it; or set a new password',
    tag: TAG,
    body: { mediaType: FORM, bytesMax: FORM_BYTES_MAX, schema: FORM_SCHEMA },
    responses: { ...RESPONSES, 400: 'The page again, with the problem' },
  },
  async (request) =>
    withSignUp(request, async (language, found) => {
      const closed = closedAs(found);
      if (closed !== null) return noticePage(language, closed);
      const form = await readForm(request);
      if (found.signUp.kind === 'password-reset') return resetPassword(request, language, found, form);
      switch (form.get('answer')) {
        case 'accept':
          return accept(request, language, found, form.get('password') ?? '');
        case 'reject':
          return reject(request, language, found);
        default:
          return signUpPage(language, found, 'choice');
      }
    }),
);

async function accept(request: OpenRequest, language: Language, found: SignUp, password: string): Promise<OpenAnswer> {
  const { services } = request;
  const { signUp, needsPassword } = found;
  const problem = needsPassword ? problemWith(password, found) : null;
  if (problem !== null) return signUpPage(language, found, problem);
  const passwordHash = needsPassword ? await hashPassword(password) : null;
  const outcome = await services.database.transaction((tx) =>
    acceptSignUp(tx, signUp.id, passwordHash, initiatorOf(request, signUp.id)),
  );
  // The page was rendered for a user with a password, which has been removed since: ask for one.
  if (outcome === 'password-needed') return signUpPage(language, { ...found, needsPassword: true }, 'too-short');
  return answered(request, language, outcome, 'accepted');
}

function problemWith(password: string, { signUp }: SignUp): PasswordProblem | null {
  const { givenName, familyName } = signUp.identity;
  return checkPassword(password, [
    signUp.email,
    signUp.email.split('@')[0] ?? '',
    givenName,
    familyName,
    givenName + familyName,
  ]);
}

async function resetPassword(
  request: OpenRequest,
  language: Language,
  found: SignUp,
  form: URLSearchParams,
): Promise<OpenAnswer> {
  const { signUp } = found;
  const password = form.get('password') ?? '';
  const problem = problemWith(password, found);
  if (problem !== null) return signUpPage(language, found, problem);
  const hashes = { hash: await hashPassword(password), addressHash: addressHash(emailKey(signUp.email)) };
  const outcome = await request.services.database.transaction((tx) =>
    acceptPasswordReset(tx, signUp.id, hashes, initiatorOf(request, signUp.id)),
  );
  return answered(request, language, outcome, 'password-set');
}

async function reject(request: OpenRequest, language: Language, { signUp }: SignUp): Promise<OpenAnswer> {
  const outcome = await request.services.database.transaction((tx) =>
    rejectSignUp(tx, signUp.id, initiatorOf(request, signUp.id)),
  );
  return answered(request, language, outcome, 'rejected');
}

/** The sign-up is all that identifies the person behind the link. */
function initiatorOf({ requestId }: OpenRequest, signUpId: UserSignUpId): Initiator {
  return { actor: signUpId, requestId };
}

/** The first of two concurrent answers counts; the other gets the current state of the invitation. */
async function answered(
  { services, params }: OpenRequest,
  language: Language,
  outcome: 'done' | 'closed',
  wanted: 'accepted' | 'rejected' | 'password-set',
): Promise<OpenAnswer> {
  if (outcome === 'done') return noticePage(language, wanted);
  const found = await findByToken(services, params.token ?? '');
  return noticePage(language, (found && closedAs(found)) ?? 'unknown');
}

/** Finds the sign-up of the link in the path, or answers the request itself. */
async function withSignUp(
  request: OpenRequest,
  show: (language: Language, found: SignUp) => Promise<OpenAnswer>,
): Promise<OpenAnswer> {
  const language = preferredLanguage(request.headers['accept-language']);
  try {
    const found = await findByToken(request.services, request.params.token ?? '');
    return found === null ? noticePage(language, 'unknown') : await show(language, found);
  } catch (error) {
    if (error instanceof DatabaseUnavailable || error instanceof LockTimeout)
      return noticePage(language, 'unavailable');
    throw error;
  }
}

async function findByToken(services: Services, token: string): Promise<SignUp | null> {
  if (!TOKEN.test(token)) return null;
  return findSignUp(services.database.reader, createHash('sha256').update(token).digest());
}

/** Why a link no longer works; null while it does. */
function closedAs({ signUp, now }: SignUp): NoticeName | null {
  const isReset = signUp.kind === 'password-reset';
  if (isExpired(signUp, now)) return isReset ? 'password-expired' : 'expired';
  if (signUp.status === 'accepted' || signUp.status === 'rejected') return isReset ? 'password-used' : 'used';
  if (signUp.status === 'cancelled') return isReset ? 'password-cancelled' : 'cancelled';
  return null;
}

async function readForm({ headers, readBody }: OpenRequest): Promise<URLSearchParams> {
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  return new URLSearchParams(mediaType === FORM ? (await readBody()).toString('utf8') : '');
}

export const signUpRoutes = [getSignUp, postSignUp];
