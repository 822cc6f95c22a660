import { DomainError, type ErrorCode, type Problem, rejection } from '../common/errors.ts';
import { type ConnectMethod, chooseOffer, findOffer, type OfferFound, type Provider } from '../providers/providers.ts';

/** `connect` of `POST /accounts` (specification 4.5). */
export interface AccountConnect {
  readonly method?: ConnectMethod | undefined;
  readonly type?: 'explicit' | 'implicit' | undefined;
  readonly serviceProvider?: string | undefined;
}

/** `connect` as sent, valid or not. */
type ConnectSent = { readonly [Field in keyof AccountConnect]?: unknown };

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
  const [first, ...rest] = connectContradictions(connect);
  if (first !== undefined) throw new DomainError([first, ...rest]);
  const { method = 'built-in', serviceProvider: code } = connect;
  if (code === undefined) return chooseOffer(providers, place) ?? notOffered(place);
  const provider = providers.find((candidate) => candidate.code === code);
  if (provider === undefined) {
    throw reject('common.validation.field_invalid', 'serviceProvider', code, 'No such service provider is configured.');
  }
  if (provider.method !== method) {
    const message = `${code} is a ${provider.method} provider.`;
    throw reject('connect.method.type_mismatch', 'method', method, message);
  }
  return findOffer(provider, place) ?? notOffered(place);
}

/** Contradictions between the fields: naming a provider requires `explicit`, and a plug-in account must name its provider. */
export function connectContradictions({ method, type, serviceProvider: code }: ConnectSent): Problem[] {
  const problems: Problem[] = [];
  if (method === 'plug-in' && (type === 'implicit' || (type === undefined && code === undefined))) {
    const message = 'A plug-in account must name its provider, with type explicit.';
    problems.push(contradiction('connect.method.type_mismatch', 'type', 'implicit', message));
  }
  if (type === 'implicit' && code !== undefined) {
    const message = 'With type implicit the service chooses the provider. To name the provider, use type explicit.';
    const value = typeof code === 'string' ? code : '';
    problems.push(contradiction('common.validation.mutually_exclusive', 'serviceProvider', value, message));
  }
  if (type === 'explicit' && code === undefined) {
    const message = 'Type explicit requires a service provider.';
    problems.push(contradiction('common.validation.field_required', 'serviceProvider', '', message));
  }
  return problems;
}

function contradiction(code: ErrorCode, field: keyof AccountConnect, value: string, message: string): Problem {
  return { code, message, messageParameters: ['connect', field, value] };
}

function reject(code: ErrorCode, field: string, value: string, message: string): Error {
  return rejection(code, ['connect', field, value], message);
}

function notOffered({ currency, country }: AccountPlace): never {
  const where = country === null ? '' : ` in ${country}`;
  throw rejection(
    'connect.offer.unavailable',
    ['account', 'currency', currency],
    `No provider offers ${currency}${where}.`,
  );
}
