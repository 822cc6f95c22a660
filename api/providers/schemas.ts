import { connectContradictions } from '../../domain/accounts/issuing.ts';
import { type Disagreement, disagreement, type Sent } from '../frame/schemas/cross-checks.ts';

export const PROVIDER_CODE_LENGTH_MAX = 64;

/** For the cross-check of a `connect` that may leave the choice of the provider to the service. */
export function connectDisagreements({ method, type, serviceProvider }: Sent): Disagreement[] {
  return connectContradictions({ method, type, serviceProvider }).map((found) => {
    const [, field, value] = found.messageParameters;
    return disagreement(found, [field], value);
  });
}
