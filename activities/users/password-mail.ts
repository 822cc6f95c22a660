import type { SignUp } from '../../db/users/sign-ups.ts';
import { escaped, type Letter } from './invitation-mail.ts';

interface Wording {
  readonly language: string;
  readonly greeting: (givenName: string) => string;
  readonly open: string;
  readonly until: (date: string) => string;
  readonly ignore: string;
}

const WORDINGS: readonly Wording[] = [
  {
    language: 'en',
    greeting: (name) => `Dear ${name},`,
    open: 'Open this link to choose a new password:',
    until: (date) => `The link works once, until ${date} (UTC). It is meant for you alone: please do not pass it on.`,
    ignore: 'If you did not ask for this, you need not do anything: your password stays as it is.',
  },
  {
    language: 'de',
    greeting: (name) => `Guten Tag ${name},`,
    open: 'Öffnen Sie diesen Link, um ein neues Passwort zu wählen:',
    until: (date) =>
      `Der Link gilt einmal, bis ${date} (UTC). Er ist nur für Sie bestimmt: Bitte geben Sie ihn nicht weiter.`,
    ignore: 'Falls Sie nicht darum gebeten haben, brauchen Sie nichts zu tun: Ihr Passwort bleibt, wie es ist.',
  },
  {
    language: 'fr',
    greeting: (name) => `Bonjour ${name},`,
    open: 'Ouvrez ce lien pour choisir un nouveau mot de passe :',
    until: (date) =>
      `Le lien fonctionne une fois, jusqu’au ${date} (UTC). Il est pour vous seul(e) : ne le transmettez pas.`,
    ignore: 'Si vous ne l’avez pas demandé, vous n’avez rien à faire : votre mot de passe reste inchangé.',
  },
];

const SUBJECT = 'Your new password / Ihr neues Passwort / Votre nouveau mot de passe';

/** The e-mail of a password reset, as text and HTML. Only the link differs between attempts. */
export function passwordMail({ signUp }: Pick<SignUp, 'signUp'>, link: string): Letter {
  const name = signUp.identity.givenName;
  const until = signUp.expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const text = WORDINGS.map(({ greeting, open, until: lasts, ignore }) =>
    [greeting(name), '', open, link, '', lasts(until), ignore].join('\n'),
  ).join('\n\n----------\n\n');
  const html = WORDINGS.map(
    ({ language, greeting, open, until: lasts, ignore }) => `<div lang="${language}">
<p>${escaped(greeting(name))}</p>
<p>${escaped(open)}<br><a href="${escaped(link)}">${escaped(link)}</a></p>
<p>${escaped(lasts(until))} ${escaped(ignore)}</p>
</div>`,
  ).join('\n<hr>\n');
  return {
    subject: SUBJECT,
    text: `${text}\n`,
    html: `<!DOCTYPE html>\n<html lang="en"><body>\n${html}\n</body></html>\n`,
  };
}
