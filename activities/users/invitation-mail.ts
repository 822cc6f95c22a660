import type { SignUp } from '../../db/users/sign-ups.ts';
import { type EmailTemplate, emailWithLink } from './email-templates.ts';

const COPIES = [
  {
    language: 'en',
    invited: 'you have been invited to act for:',
    open: 'Open this link to accept or to reject the invitation:',
    ignore: 'If you did not expect this, you do not need to do anything.',
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

/** The e-mail that invites a user. */
export function invitationMail(
  { signUp, clientNames }: Pick<SignUp, 'signUp' | 'clientNames'>,
  link: string,
): EmailTemplate {
  const { identity, expiresAt } = signUp;
  const copies = COPIES.map(({ invited, ...copy }) => ({
    ...copy,
    about: { introduction: invited, items: clientNames },
  }));
  return emailWithLink(SUBJECT, copies, { givenName: identity.givenName, link, expiresAt });
}
