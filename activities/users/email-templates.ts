import { escaped } from '../../domain/common/texts/html.ts';

export interface EmailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The text of an e-mail with a one-time link, in one language. */
export interface Copy {
  readonly language: 'en' | 'de' | 'fr';
  /** Between the greeting and the link. */
  readonly about: { readonly introduction: string; readonly items: readonly string[] } | null;
  readonly open: string;
  readonly ignore: string;
}

interface Phrases {
  readonly greeting: (givenName: string) => string;
  readonly validity: (date: string) => string;
}

const PHRASES: Readonly<Record<Copy['language'], Phrases>> = {
  en: {
    greeting: (name) => `Dear ${name},`,
    validity: (date) => `The link works once, until ${date} (UTC). It is meant for you only: please do not pass it on.`,
  },
  de: {
    greeting: (name) => `Guten Tag ${name},`,
    validity: (date) =>
      `Der Link gilt einmal, bis ${date} (UTC). Er ist nur für Sie bestimmt: Bitte geben Sie ihn nicht weiter.`,
  },
  fr: {
    greeting: (name) => `Bonjour ${name},`,
    validity: (date) =>
      `Le lien fonctionne une fois, jusqu’au ${date} (UTC). Il est pour vous seul(e) : ne le transmettez pas.`,
  },
};

/**
 * An e-mail with a one-time link, as text and HTML. The reader's language is unknown, so the text is repeated in every language
 * of the sign-up pages. Only the link differs between attempts.
 */
export function emailWithLink(
  subject: string,
  copies: readonly Copy[],
  { givenName, link, expiresAt }: { readonly givenName: string; readonly link: string; readonly expiresAt: Date },
): EmailTemplate {
  const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const text = copies.map(({ language, about, open, ignore }) => {
    const phrases = PHRASES[language];
    const named = about === null ? [] : [about.introduction, ...about.items.map((item) => `- ${item}`), ''];
    return [phrases.greeting(givenName), '', ...named, open, link, '', phrases.validity(until), ignore].join('\n');
  });
  const html = copies.map(({ language, about, open, ignore }) => {
    const phrases = PHRASES[language];
    const items = about?.items.map((item) => `<li>${escaped(item)}</li>`).join('');
    const named = about === null ? '' : `<p>${escaped(about.introduction)}</p>\n<ul>${items}</ul>\n`;
    return `<div lang="${language}">
<p>${escaped(phrases.greeting(givenName))}</p>
${named}<p>${escaped(open)}<br><a href="${escaped(link)}">${escaped(link)}</a></p>
<p>${escaped(phrases.validity(until))} ${escaped(ignore)}</p>
</div>`;
  });
  return {
    subject,
    text: `${text.join('\n\n----------\n\n')}\n`,
    html: `<!DOCTYPE html>\n<html lang="en"><body>\n${html.join('\n<hr>\n')}\n</body></html>\n`,
  };
}
