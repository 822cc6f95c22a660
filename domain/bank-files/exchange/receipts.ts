import type { Provider } from '../../providers/providers.ts';

/** Shorter numbers than these name no account by their end. */
const NUMBER_LENGTH_MIN = 6;

/**
 * Whether a report is about an account that our clients' accounts share at the bank. Banks write its IBAN, or its number with or without what
 * stands before it.
 */
export function isPooledAccount(provider: Pick<Provider, 'offers'> | undefined, account: string): boolean {
  const numbers = (provider?.offers ?? []).flatMap(({ bank }) => {
    const pooled = bank?.pooledAccount ?? null;
    return pooled === null ? [] : [pooled.iban, pooled.accountNumber];
  });
  return numbers.some((number) => number !== null && isSameAccount(plain(number), plain(account)));
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

function isSameAccount(one: string, other: string): boolean {
  const shorter = one.length < other.length ? one : other;
  const longer = shorter === one ? other : one;
  return shorter === longer || (shorter.length >= NUMBER_LENGTH_MIN && longer.endsWith(shorter));
}

/** Reports of accounts do not say by which scheme money came in: it is taken to be the first that the provider offers for the currency. */
export function depositSchemeOf(provider: Pick<Provider, 'offers'> | undefined, currency: string): string {
  const offer = provider?.offers.find(({ currencies }) => currencies === null || currencies.includes(currency));
  return offer?.schemes[0] ?? 'swift';
}
