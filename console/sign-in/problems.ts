import type { SignInProblem } from './identity-provider.ts';

/** What keeps a sign-in from being finished, before the identity provider is asked. */
export type CallbackProblem = 'unknown' | 'expired' | 'other-browser';

interface Page {
  readonly status: 400 | 403 | 503;
  readonly title: string;
  readonly text: string;
}

const AGAIN = 'Nothing was changed.';

export function problemPage(problem: SignInProblem | CallbackProblem, rolesClaim: string): Page {
  switch (problem) {
    case 'unavailable':
      return {
        status: 503,
        title: 'The identity provider does not answer',
        text: 'Your company’s identity provider cannot be reached at the moment. Payments go on without the console. Try again in a minute.',
      };
    case 'denied':
      return {
        status: 403,
        title: 'The sign-in was declined',
        text: 'You, or your company’s identity provider, declined the sign-in. If that was not meant, sign in again.',
      };
    case 'no-role-claim':
      return {
        status: 403,
        title: 'You have no role here',
        text: `The identity provider knows you, but did not say which groups you are in: the claim “${rolesClaim}” is missing. Ask who runs the console to have it sent.`,
      };
    case 'no-role':
      return {
        status: 403,
        title: 'You have no role here',
        text: `The identity provider knows you, but none of your groups in the claim “${rolesClaim}” has a role in the console. Ask who runs the console for one.`,
      };
    case 'not-proved-again':
      return {
        status: 403,
        title: 'You were not asked to sign in again',
        text: 'What moves money needs a recent sign-in, and the identity provider let you through on an older one. You are signed in as before.',
      };
    case 'unknown':
      return {
        status: 400,
        title: 'This sign-in has been used, or is too old',
        text: `A sign-in works once, and for ten minutes. ${AGAIN}`,
      };
    case 'expired':
      return { status: 400, title: 'This sign-in took too long', text: `A sign-in has ten minutes. ${AGAIN}` };
    case 'other-browser':
      return {
        status: 400,
        title: 'This sign-in began in another browser',
        text: `It can only be finished where it began. If you did not begin it, another person may have sent you the link. ${AGAIN}`,
      };
    case 'failed':
      return {
        status: 400,
        title: 'The sign-in could not be finished',
        text: `The identity provider’s answer did not pass our checks. ${AGAIN} If it happens again, tell who runs the console.`,
      };
  }
}
