import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { type LanguageVariables, languageDetector } from 'hono/language';

export const LANGUAGES = ['en', 'de', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The environment of routes that show pages. */
export type PageEnv = { Bindings: HttpBindings; Variables: LanguageVariables };

/** The language that the reader has chosen (`?language=de`), which is remembered; else the browser's; else English. */
export const readLanguage = languageDetector({
  supportedLanguages: [...LANGUAGES],
  fallbackLanguage: 'en',
  lookupQueryString: 'language',
  // Lax, because a reader comes from other sites too. Not secure: the sandbox speaks plain http.
  cookieOptions: { sameSite: 'Lax', secure: false },
});

/** After `readLanguage`. */
export function languageOf(c: Context<PageEnv>): Language {
  return LANGUAGES.find((language) => language === c.get('language')) ?? 'en';
}

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE', fr: 'fr-FR' };

/** An amount by its digits, as the service gives it. */
export function amountText(language: Language, digits: string, currency: string): string {
  if (!isDecimal(digits)) throw new Error('an amount is no decimal number');
  return new Intl.NumberFormat(LOCALES[language], { style: 'currency', currency }).format(digits);
}

function isDecimal(digits: string): digits is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(digits);
}

/** A date-time of the service, in UTC, for people. */
export function timeText(language: Language, dateTime: string): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(new Date(`${dateTime}Z`))} UTC`;
}

/** An account's number, an IBAN in groups of four as on paper. */
export function numberText(iban: string | null, accountNumber: string | null): string {
  return iban?.replace(/.{4}(?=.)/g, '$& ') ?? accountNumber ?? '';
}

/** A payee's account as in consents: an IBAN, or a sort code and a number in one. */
export function creditorText(identification: string): string {
  const [, ...parts] = /^(\d\d)(\d\d)(\d\d)(\d{8})$/.exec(identification) ?? [];
  const [first, second, third, number] = parts;
  return number === undefined ? numberText(identification, null) : `${first}-${second}-${third} ${number}`;
}
