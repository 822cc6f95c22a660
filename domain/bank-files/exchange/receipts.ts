import type { Provider } from '../../providers/providers.ts';

/** Shorter numbers than these name no account by their end. */
const NUMBER_LENGTH_MIN = 6;

/**
 * Whether a report is about an account that our clients' accounts share at the bank. Banks write its IBAN, or its number with or without what
 * stands before it. Where that is a sort code, it is ours: accounts of two banks may have one number.
 */
export function isPooledAccount(provider: Pick<Provider, 'offers'> | undefined, account: string): boolean {
  const numbers = (provider?.offers ?? []).flatMap(({ bank }) => {
    const pooled = bank?.pooledAccount ?? null;
    if (bank === null || pooled === null) return [];
    const { iban, accountNumber } = pooled;
    return [iban, accountNumber === null ? null : `${bank.routingCodes['sort-code'] ?? ''}${accountNumber}`];
  });
  return numbers.some((number) => number !== null && isSameAccount(number, account));
}

/** Whether each account that our clients' accounts share in a currency is among those that the bank names. */
export function areAllNamed(
  provider: Pick<Provider, 'offers'> | undefined,
  currency: string,
  named: readonly string[],
): boolean {
  const offers = (provider?.offers ?? []).filter(({ currencies }) => currencies?.includes(currency) ?? true);
  return (
    offers.length > 0 && offers.every((offer) => named.some((account) => isPooledAccount({ offers: [offer] }, account)))
  );
}

function plain(number: string): string {
  return number.replaceAll(/[\s-]/g, '').toUpperCase();
}

/** Whether two ways of writing an account may mean one. */
export function isSameAccount(one: string, other: string): boolean {
  const [shorter, longer] = [plain(one), plain(other)].sort((a, b) => a.length - b.length);
  if (shorter === undefined || longer === undefined) return false;
  return shorter === longer || (shorter.length >= NUMBER_LENGTH_MIN && longer.endsWith(shorter));
}

interface Payer {
  readonly name: string | null;
  readonly iban: string | null;
  readonly accountNumber: string | null;
}

/** Whether what two messages say of a payer contradicts. One may leave out what the other tells, or write its name in its own way. */
export function isOtherPayer(one: Payer, other: Payer): boolean {
  if (one.iban !== null && other.iban !== null) return !isSameAccount(one.iban, other.iban);
  if (one.accountNumber !== null && other.accountNumber !== null)
    return !isSameAccount(one.accountNumber, other.accountNumber);
  if (one.name === null || other.name === null) return false;
  const words = wordsOf(other.name);
  return !wordsOf(one.name).some((word) => words.includes(word));
}

/** Without the marks that a bank may leave out, or write as a letter of their own. */
function wordsOf(name: string): readonly string[] {
  const plainly = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toUpperCase()
    .replaceAll(/([AOU])E/g, '$1');
  return plainly.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** Reports of accounts do not say by which scheme money came in: it is taken to be the first that the provider offers for the currency. */
export function depositSchemeOf(provider: Pick<Provider, 'offers'> | undefined, currency: string): string {
  const offer = provider?.offers.find(({ currencies }) => currencies === null || currencies.includes(currency));
  return offer?.schemes[0] ?? 'swift';
}
