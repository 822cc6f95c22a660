import { connectContradictions } from '../../domain/accounts/issuing.ts';
import { type FieldConflict, fieldConflict, type Sent } from '../http/schemas/cross-checks.ts';

export const PROVIDER_CODE_LENGTH_MAX = 64;

/** Cross-checks a `connect` in which the choice of the provider may be left to the service. */
export function connectConflicts({ method, type, serviceProvider }: Sent): FieldConflict[] {
  return connectContradictions({ method, type, serviceProvider }).map((found) => {
    const [, field, value] = found.messageParameters;
    return fieldConflict(found, [field], value);
  });
}
