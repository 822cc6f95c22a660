import { escaped } from '../../domain/frame/html.ts';

export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What a letter with a one-time link says in one language. */
export interface Wording {
  readonly language: 'en' | 'de' | 'fr';
  /** Between the greeting and the link. */
  readonly about: { readonly introduction: string; readonly items: readonly string[] } | null;
  readonly open: string;
  readonly ignore: string;
}

interface Phrases {
  readonly greeting: (givenName: string) => string;
  readonly until: (date: string) => string;
}

const PHRASES: Readonly<Record<Wording['language'], Phrases>> = {
  en: {
    greeting: (name) => `Dear ${name},`,
    until: (date) => `The link works once, until ${date} (UTC). It is meant for you alone: please do not pass it on.`,
  },
  de: {
    greeting: (name) => `Guten Tag ${name},`,
    until: (date) =>
      `Der Link gilt einmal, bis ${date} (UTC). Er ist nur für Sie bestimmt: Bitte geben Sie ihn nicht weiter.`,
  },
  fr: {
    greeting: (name) => `Bonjour ${name},`,
    until: (date) =>
      `Le lien fonctionne une fois, jusqu’au ${date} (UTC). Il est pour vous seul(e) : ne le transmettez pas.`,
  },
};

/**
 * A letter with a one-time link, as text and HTML. The reader's language is unknown, so it repeats its text in every language
 * of the sign-up pages. Only the link differs between attempts.
 */
export function letterWithLink(
  subject: string,
  wordings: readonly Wording[],
  { givenName, link, expiresAt }: { readonly givenName: string; readonly link: string; readonly expiresAt: Date },
): Letter {
  const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const text = wordings.map(({ language, about, open, ignore }) => {
    const phrases = PHRASES[language];
    const named = about === null ? [] : [about.introduction, ...about.items.map((item) => `- ${item}`), ''];
    return [phrases.greeting(givenName), '', ...named, open, link, '', phrases.until(until), ignore].join('\n');
  });
  const html = wordings.map(({ language, about, open, ignore }) => {
    const phrases = PHRASES[language];
    const items = about?.items.map((item) => `<li>${escaped(item)}</li>`).join('');
    const named = about === null ? '' : `<p>${escaped(about.introduction)}</p>\n<ul>${items}</ul>\n`;
    return `<div lang="${language}">
<p>${escaped(phrases.greeting(givenName))}</p>
${named}<p>${escaped(open)}<br><a href="${escaped(link)}">${escaped(link)}</a></p>
<p>${escaped(phrases.until(until))} ${escaped(ignore)}</p>
</div>`;
  });
  return {
    subject,
    text: `${text.join('\n\n----------\n\n')}\n`,
    html: `<!DOCTYPE html>\n<html lang="en"><body>\n${html.join('\n<hr>\n')}\n</body></html>\n`,
  };
}
