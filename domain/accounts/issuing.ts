import { type ErrorCode, refusal } from '../frame/errors.ts';
import { type ConnectMethod, chooseOffer, findOffer, type OfferFound, type Provider } from '../providers/providers.ts';

/** `connect` of `POST /accounts` (specification 4.5). */
export interface AccountConnect {
  readonly method?: ConnectMethod | undefined;
  readonly type?: 'explicit' | 'implicit' | undefined;
  readonly serviceProvider?: string | undefined;
}

/** The new account's currency and country; without a country, the provider's default for the currency applies. */
export interface AccountPlace {
  readonly currency: string;
  readonly country: string | null;
}

/**
 * Chooses the provider of a new account. `built-in` is the default method; naming a provider implies `explicit`. Rejects
 * contradictions and unknown providers (400), and combinations that no provider offers (422).
 */
export function chooseProvider(
  providers: readonly Provider[],
  connect: AccountConnect,
  place: AccountPlace,
): OfferFound {
  const method = connect.method ?? 'built-in';
  const type = connect.type ?? (connect.serviceProvider === undefined ? 'implicit' : 'explicit');
  if (type === 'implicit') {
    if (method === 'plug-in') {
      throw refuse(
        'connect.method.type_mismatch',
        'type',
        type,
        'A plug-in account names its provider: type explicit.',
      );
    }
    if (connect.serviceProvider !== undefined) {
      const message = 'With type implicit the service chooses the provider; with explicit the request names it.';
      throw refuse('common.validation.mutually_exclusive', 'serviceProvider', connect.serviceProvider, message);
    }
    return chooseOffer(providers, place) ?? notOffered(place);
  }
  const code = connect.serviceProvider;
  if (code === undefined) {
    throw refuse('common.validation.field_required', 'serviceProvider', '', 'Type explicit names a service provider.');
  }
  const provider = providers.find((candidate) => candidate.code === code);
  if (provider === undefined) {
    throw refuse('common.validation.field_invalid', 'serviceProvider', code, 'No such service provider is configured.');
  }
  if (provider.method !== method) {
    const message = `${code} is a ${provider.method} provider.`;
    throw refuse('connect.method.type_mismatch', 'method', method, message);
  }
  return findOffer(provider, place) ?? notOffered(place);
}

function refuse(code: ErrorCode, field: string, value: string, message: string): Error {
  return refusal(code, ['connect', field, value], message);
}

function notOffered({ currency, country }: AccountPlace): never {
  const where = country === null ? '' : ` in ${country}`;
  throw refusal(
    'connect.offer.unavailable',
    ['account', 'currency', currency],
    `No provider offers ${currency}${where}.`,
  );
}
