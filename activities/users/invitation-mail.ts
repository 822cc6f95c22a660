import type { SignUp } from '../../db/users/sign-ups.ts';

export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Wording {
  readonly language: string;
  readonly greeting: (givenName: string) => string;
  readonly invited: string;
  readonly open: string;
  readonly until: (date: string) => string;
  readonly ignore: string;
}

/** The reader's language is unknown, so the e-mail repeats its text in every language of the sign-up pages. */
const WORDINGS: readonly Wording[] = [
  {
    language: 'en',
    greeting: (name) => `Dear ${name},`,
    invited: 'you have been invited to act for:',
    open: 'Open this link to accept or to reject the invitation:',
    until: (date) => `The link works once, until ${date} (UTC). It is meant for you alone: please do not pass it on.`,
    ignore: 'If you did not expect this, you need not do anything.',
  },
  {
    language: 'de',
    greeting: (name) => `Guten Tag ${name},`,
    invited: 'Sie wurden eingeladen, zu handeln für:',
    open: 'Öffnen Sie diesen Link, um die Einladung anzunehmen oder abzulehnen:',
    until: (date) =>
      `Der Link gilt einmal, bis ${date} (UTC). Er ist nur für Sie bestimmt: Bitte geben Sie ihn nicht weiter.`,
    ignore: 'Falls Sie damit nicht gerechnet haben, brauchen Sie nichts zu tun.',
  },
  {
    language: 'fr',
    greeting: (name) => `Bonjour ${name},`,
    invited: 'vous êtes invité(e) à agir pour :',
    open: 'Ouvrez ce lien pour accepter ou refuser l’invitation :',
    until: (date) =>
      `Le lien fonctionne une fois, jusqu’au ${date} (UTC). Il est pour vous seul(e) : ne le transmettez pas.`,
    ignore: 'Si vous ne vous y attendiez pas, vous n’avez rien à faire.',
  },
];

const SUBJECT = 'Your invitation / Ihre Einladung / Votre invitation';

/** The e-mail of a sign-up, as text and HTML. Only the link differs between attempts. */
export function invitationMail({ signUp, clientNames }: Pick<SignUp, 'signUp' | 'clientNames'>, link: string): Letter {
  const name = signUp.identity.givenName;
  const until = signUp.expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const text = WORDINGS.map(({ greeting, invited, open, until: lasts, ignore }) =>
    [
      greeting(name),
      '',
      invited,
      ...clientNames.map((client) => `- ${client}`),
      '',
      open,
      link,
      '',
      lasts(until),
      ignore,
    ].join('\n'),
  ).join('\n\n----------\n\n');
  const html = WORDINGS.map(
    ({ language, greeting, invited, open, until: lasts, ignore }) => `<div lang="${language}">
<p>${escaped(greeting(name))}</p>
<p>${escaped(invited)}</p>
<ul>${clientNames.map((client) => `<li>${escaped(client)}</li>`).join('')}</ul>
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
