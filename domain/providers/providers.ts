import { INTERNAL_SCHEME, type SchemeOf, type Schemes } from './schemes.ts';

/** `built-in`: the service calls the provider. `plug-in`: the caller does, and accounts here are ledgers only. */
export type ConnectMethod = 'built-in' | 'plug-in';

interface Bank {
  readonly name: string;
  readonly address: string;
  readonly country: string;
  readonly routingCodes: Readonly<Record<string, string>>;
}

/** The bank that holds an offer's accounts, for deposit information. */
export interface ProviderBank extends Bank {
  /** The correspondent through which `swift` reaches it; null: directly. */
  readonly intermediary: Intermediary | null;
  /** The account that all accounts of the offer share: payers name the receiver's ledger number. Null: each has its own. */
  readonly pooledAccount: PooledAccount | null;
}

export interface PooledAccount {
  readonly accountHolderName: string;
  readonly accountNumber: string | null;
  readonly iban: string | null;
}

/** A correspondent bank, with the account that the provider's bank holds there. */
export interface Intermediary extends Bank {
  readonly accountNumber: string | null;
  readonly iban: string | null;
}

/** The accounts that a provider opens, and the schemes for paying from them. */
export interface ProviderOffer {
  /** Null: every currency that the provider's other offers do not name. */
  readonly currencies: readonly string[] | null;
  /** Null: every country. */
  readonly countries: readonly string[] | null;
  /** For accounts requested without a country. */
  readonly defaultCountry: string;
  readonly schemes: readonly string[];
  /** Null for plug-in providers, whose bank only the caller knows. */
  readonly bank: ProviderBank | null;
}

export interface Provider {
  readonly code: string;
  readonly method: ConnectMethod;
  /** Tried in order. */
  readonly offers: readonly ProviderOffer[];
}

export interface OfferFound {
  readonly provider: Provider;
  readonly offer: ProviderOffer;
  readonly country: string;
}

/** The provider's offers for a currency. */
export function offersIn(provider: Provider, currency: string): readonly ProviderOffer[] {
  const named = provider.offers.filter(({ currencies }) => currencies?.includes(currency));
  return named.length > 0 ? named : provider.offers.filter(({ currencies }) => currencies === null);
}

/** The provider's offer for the currency and country, or null. */
export function findOffer(
  provider: Provider,
  wanted: { readonly currency: string; readonly country: string | null },
): OfferFound | null {
  const offer = offersIn(provider, wanted.currency).find(
    ({ countries }) => wanted.country === null || countries === null || countries.includes(wanted.country),
  );
  return offer === undefined ? null : { provider, offer, country: wanted.country ?? offer.defaultCountry };
}

/** An account's numbers; none if they are those of a pooled account of its provider, which identify no one. */
export function ownNumbersOf<Numbers extends { readonly iban: string | null; readonly accountNumber: string | null }>(
  numbers: Numbers,
  code: string,
  providers: readonly Provider[],
): Numbers {
  const offers = providers.find((provider) => provider.code === code)?.offers ?? [];
  const isPooled = offers.some(({ bank }) => {
    const pooled = bank?.pooledAccount ?? null;
    return (
      pooled !== null && (isSame(pooled.iban, numbers.iban) || isSame(pooled.accountNumber, numbers.accountNumber))
    );
  });
  return isPooled ? { ...numbers, iban: null, accountNumber: null } : numbers;
}

/** Compares numbers regardless of grouping and padding. */
function isSame(one: string | null, other: string | null): boolean {
  const plain = (number: string) => number.replaceAll(/[ -]/g, '').replace(/^0+/, '').toUpperCase();
  return one !== null && other !== null && plain(one) === plain(other);
}

/** Its provider's current offer for an account; null if the offer is gone. */
export function offerOf(
  account: { readonly provider: string; readonly currency: string; readonly country: string | null },
  providers: readonly Provider[],
): ProviderOffer | null {
  const provider = providers.find(({ code }) => code === account.provider);
  return provider === undefined ? null : (findOffer(provider, account)?.offer ?? null);
}

/** The first configured built-in provider that offers the currency and country: the meaning of `connect.type` `implicit`. */
export function chooseOffer(
  providers: readonly Provider[],
  wanted: { readonly currency: string; readonly country: string | null },
): OfferFound | null {
  for (const provider of providers) {
    const found = provider.method === 'built-in' ? findOffer(provider, wanted) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The schemes for paying from an account of the offer to the country, best first. */
export function outgoingSchemes(
  offer: ProviderOffer,
  payment: { readonly currency: string; readonly destinationCountry: string },
  schemes: Schemes,
): string[] {
  return offer.schemes.filter((scheme) =>
    schemes.reaches({ scheme, currency: payment.currency }, payment.destinationCountry),
  );
}

/** The schemes for paying into an account of the offer, with `internal` last: the keys of deposit information. */
export function depositSchemes(offer: ProviderOffer, currency: string, schemes: Schemes): string[] {
  const external = offer.schemes.filter((scheme) => schemes.carries({ scheme, currency }));
  return [...external, INTERNAL_SCHEME];
}

/** Whether the provider offers this scheme; internal transfers need no provider. */
export function offersScheme(offer: ProviderOffer, of: SchemeOf): boolean {
  return of.scheme === null || of.scheme === INTERNAL_SCHEME || offer.schemes.includes(of.scheme);
}
