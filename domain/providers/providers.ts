import { INTERNAL_SCHEME, type SchemeOf, type Schemes } from './schemes.ts';

/** `built-in`: the service calls the provider. `plug-in`: the caller does, and accounts are ledgers here. */
export type ConnectMethod = 'built-in' | 'plug-in';

/** What deposit information says of the bank that holds the accounts of an offer. */
export interface ProviderBank {
  readonly name: string;
  readonly address: string;
  readonly country: string;
  readonly routingCodes: Readonly<Record<string, string>>;
}

/** Accounts that a provider opens, and the schemes that pay from them. */
export interface ProviderOffer {
  /** Null: every currency that no other offer of the provider names. */
  readonly currencies: readonly string[] | null;
  /** Null: every country. */
  readonly countries: readonly string[] | null;
  /** Of an account whose request names no country. */
  readonly defaultCountry: string;
  readonly schemes: readonly string[];
  /** Null for plug-in providers: only their callers know it. */
  readonly bank: ProviderBank | null;
}

export interface Provider {
  readonly code: string;
  readonly method: ConnectMethod;
  /** In the order in which they are tried. */
  readonly offers: readonly ProviderOffer[];
}

export interface OfferFound {
  readonly provider: Provider;
  readonly offer: ProviderOffer;
  readonly country: string;
}

/** The provider's offer for the currency and country; null where it has none. */
export function findOffer(
  provider: Provider,
  wanted: { readonly currency: string; readonly country: string | null },
): OfferFound | null {
  const named = provider.offers.filter(({ currencies }) => currencies?.includes(wanted.currency));
  const candidates = named.length > 0 ? named : provider.offers.filter(({ currencies }) => currencies === null);
  const offer = candidates.find(
    ({ countries }) => wanted.country === null || countries === null || countries.includes(wanted.country),
  );
  return offer === undefined ? null : { provider, offer, country: wanted.country ?? offer.defaultCountry };
}

/** What the account's provider offers for accounts like it; null where it no longer does. */
export function offerOf(
  account: { readonly provider: string; readonly currency: string; readonly country: string | null },
  providers: readonly Provider[],
): ProviderOffer | null {
  const provider = providers.find(({ code }) => code === account.provider);
  return provider === undefined ? null : (findOffer(provider, account)?.offer ?? null);
}

/** The first configured built-in provider that offers currency and country: what `connect.type` `implicit` means. */
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

/** The schemes that pay from an account of the offer to the country, best first. */
export function outgoingSchemes(
  offer: ProviderOffer,
  payment: { readonly currency: string; readonly destinationCountry: string },
  schemes: Schemes,
): string[] {
  return offer.schemes.filter((scheme) =>
    schemes.reaches({ scheme, currency: payment.currency }, payment.destinationCountry),
  );
}

/** The schemes by which an account of the offer can be paid into, `internal` last: the keys of deposit information. */
export function depositSchemes(offer: ProviderOffer, currency: string, schemes: Schemes): string[] {
  const external = offer.schemes.filter((scheme) => schemes.carries({ scheme, currency }));
  return [...external, INTERNAL_SCHEME];
}

/** Whether the provider can carry out a transfer by this scheme; internal ones need no provider. */
export function offersScheme(offer: ProviderOffer, of: SchemeOf): boolean {
  return of.scheme === null || of.scheme === INTERNAL_SCHEME || offer.schemes.includes(of.scheme);
}
