/**
 * Shows personal data, or hides it from a person who is only a viewer: each text keeps enough to tell two apart. What is hidden is
 * never in the page at all.
 */
export interface Privacy {
  readonly isHiding: boolean;
  name(text: string | null): string;
  email(text: string | null): string;
  /** An IBAN, account or ledger number. */
  number(text: string | null): string;
  /** Free text of a payer or client, such as a payment's reference. */
  text(text: string | null): string;
}

/** A hit tells as much as the name itself, so nothing is found by what is hidden. */
export const NOT_SEARCHED =
  'Names, e-mail addresses and account numbers are hidden from viewers, so nothing is found by them: search by an id, a transaction number, a reference or an amount, or ask a person with another role.';

const NONE = '–';
const HIDDEN = '•••';

const shownAs = (text: string | null): string => (text === null || text === '' ? NONE : text);

export const SHOWING: Privacy = { isHiding: false, name: shownAs, email: shownAs, number: shownAs, text: shownAs };

export const HIDING: Privacy = {
  isHiding: true,
  name: (text) =>
    hidden(text, (given) =>
      given
        .split(/\s+/)
        .map((word) => `${first(word)}${HIDDEN}`)
        .join(' '),
    ),
  email: (text) => hidden(text, (given) => `${first(given)}${HIDDEN}@${HIDDEN}`),
  number: (text) => hidden(text, (given) => (given.length > 8 ? `${HIDDEN}${given.slice(-4)}` : HIDDEN)),
  text: (text) => hidden(text, () => HIDDEN),
};

function hidden(text: string | null, hide: (text: string) => string): string {
  return text === null || text === '' ? NONE : hide(text);
}

function first(word: string): string {
  return [...word][0] ?? '';
}
