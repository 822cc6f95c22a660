import type { SignUp } from '../../db/users/sign-ups.ts';
import { type Letter, letterWithLink } from './letters.ts';

const WORDINGS = [
  {
    language: 'en',
    invited: 'you have been invited to act for:',
    open: 'Open this link to accept or to reject the invitation:',
    ignore: 'If you did not expect this, you need not do anything.',
  },
  {
    language: 'de',
    invited: 'Sie wurden eingeladen, zu handeln für:',
    open: 'Öffnen Sie diesen Link, um die Einladung anzunehmen oder abzulehnen:',
    ignore: 'Falls Sie damit nicht gerechnet haben, brauchen Sie nichts zu tun.',
  },
  {
    language: 'fr',
    invited: 'vous êtes invité(e) à agir pour :',
    open: 'Ouvrez ce lien pour accepter ou refuser l’invitation :',
    ignore: 'Si vous ne vous y attendiez pas, vous n’avez rien à faire.',
  },
] as const;

const SUBJECT = 'Your invitation / Ihre Einladung / Votre invitation';

/** The e-mail of a sign-up. */
export function invitationMail({ signUp, clientNames }: Pick<SignUp, 'signUp' | 'clientNames'>, link: string): Letter {
  const { identity, expiresAt } = signUp;
  const wordings = WORDINGS.map(({ invited, ...wording }) => ({
    ...wording,
    about: { introduction: invited, items: clientNames },
  }));
  return letterWithLink(SUBJECT, wordings, { givenName: identity.givenName, link, expiresAt });
}
