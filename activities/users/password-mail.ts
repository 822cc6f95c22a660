import type { SignUp } from '../../db/users/sign-ups.ts';
import { type Copy, type EmailTemplate, emailWithLink } from './email-templates.ts';

const COPIES: readonly Copy[] = [
  {
    language: 'en',
    about: null,
    open: 'Open this link to choose a new password:',
    ignore: 'If you did not request this, you do not need to do anything: your password will not change.',
  },
  {
    language: 'de',
    about: null,
    open: 'Öffnen Sie diesen Link, um ein neues Passwort zu wählen:',
    ignore: 'Falls Sie nicht darum gebeten haben, brauchen Sie nichts zu tun: Ihr Passwort bleibt, wie es ist.',
  },
  {
    language: 'fr',
    about: null,
    open: 'Ouvrez ce lien pour choisir un nouveau mot de passe :',
    ignore: 'Si vous ne l’avez pas demandé, vous n’avez rien à faire : votre mot de passe reste inchangé.',
  },
];

const SUBJECT = 'Your new password / Ihr neues Passwort / Votre nouveau mot de passe';

/** The e-mail for a password reset. */
export function passwordMail({ signUp }: Pick<SignUp, 'signUp'>, link: string): EmailTemplate {
  const { identity, expiresAt } = signUp;
  return emailWithLink(SUBJECT, COPIES, { givenName: identity.givenName, link, expiresAt });
}
