import * as v from 'valibot';
import type { MigrationSource, Unchecked } from '../../activities/providers/migration-port.ts';
import { handsOverAccounts, ProviderUnavailable } from '../../activities/providers/port.ts';
import type { CallOptions, NotFound, Rejected } from '../../activities/providers/ports/common.ts';
import { DomainError, type Problem, rejection } from '../../domain/common/errors.ts';
import { check } from '../http/requests/problems.ts';
import { named } from '../http/schemas/named.ts';
import { withoutImplausibleDates } from '../http/schemas/plausible-dates.ts';
import { fields, nullable, optional, picklist, type Schema, text, uuid } from '../http/schemas/schemas.ts';
import type { Services } from '../http/services.ts';
import { PROVIDER_CODE_LENGTH_MAX } from './schemas.ts';

/** Shared by the `migration` workflows. */
const SOURCE_ID_LENGTH_MAX = 200;
const REFERENCE_LENGTH_MAX = 255;

/** The provider's id of the resource to import. */
export const sourceId = text(SOURCE_ID_LENGTH_MAX);

/** The source id is unique only at its provider, so the provider must be named. */
export const namedProvider = fields({
  type: picklist(['explicit']),
  serviceProvider: text(PROVIDER_CODE_LENGTH_MAX),
});

/** The answer's `connect`: the echo and, for a migration, the new connection. */
export const migrationConnectShown = v.looseObject({
  connection: optional(
    named(
      'MigratedConnection',
      fields({
        id: uuid(),
        serviceProvider: text(PROVIDER_CODE_LENGTH_MAX),
        reference: nullable(text(REFERENCE_LENGTH_MAX)),
        state: picklist(['completed-up-to-date']),
      }),
    ),
  ),
});

/** Rejections of a migration beyond those of a direct creation. */
export const MIGRATION_ERRORS = [
  'connect.resource.not_found',
  'connect.resource.invalid',
  'connect.method.type_mismatch',
  'connect.provider.unavailable',
] as const;

export function presentMigratedConnection(connection: {
  readonly id: string;
  readonly provider: string;
  readonly reference: string | null;
}) {
  const { id, provider, reference } = connection;
  return { id, serviceProvider: provider, reference, state: 'completed-up-to-date' };
}

/** A look-up at a provider; `entity` is the kind of resource. */
export interface LookUp {
  readonly services: Services;
  readonly requestId: string;
  readonly entity: 'client' | 'beneficiary' | 'account';
  readonly provider: string;
  readonly sourceId: string;
}

/** The named provider's adapter, if it supports migration. */
export function migrationSource({ configuration, providers }: Services, code: string): MigrationSource {
  const configured = configuration.providers.find((provider) => provider.code === code);
  const field = ['connect', 'serviceProvider', code] as const;
  if (configured?.method === 'plug-in') {
    const message = `${code} is operated by the caller: the service cannot query it. Create the resource directly instead.`;
    throw rejection('connect.method.type_mismatch', field, message);
  }
  const provider = providers.get(code);
  if (configured === undefined || provider === undefined) {
    throw rejection('common.validation.field_invalid', field, 'No such service provider is configured.');
  }
  if (!handsOverAccounts(provider)) {
    const message = `${code} hands over no accounts: create the resource directly instead.`;
    throw rejection('connect.method.type_mismatch', field, message);
  }
  return provider;
}

/**
 * Looks up the source id at the provider, outside any transaction and within the configured time. No response: 503.
 * Unknown: 404. Not released by the provider: 422.
 */
export async function lookUp<Found extends { readonly outcome: 'found' }>(
  { services, requestId, entity, provider, sourceId: id }: LookUp,
  ask: (call: CallOptions) => Promise<Found | NotFound | Rejected>,
): Promise<Found> {
  const answer = await ask({ deadlineMs: services.configuration.migrations.timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof ProviderUnavailable)) throw error;
    services.logger.warn({ requestId, provider, entity, reason: error.reason }, 'provider gave no answer');
    throw unavailable(provider);
  });
  if (answer.outcome === 'found') return answer;
  if (answer.outcome === 'not-found') {
    throw rejection('connect.resource.not_found', [entity, 'sourceId', id], `${provider} has no such ${entity}.`);
  }
  if (answer.error.category === 'technical') throw unavailable(provider);
  const message = `${provider} does not release this ${entity}: ${answer.error.code}.`;
  throw rejection('connect.resource.invalid', [entity, 'sourceId', id], message);
}

function unavailable(provider: string) {
  return rejection(
    'connect.provider.unavailable',
    ['connect', 'serviceProvider', provider],
    `${provider} did not respond. Nothing was created: try again.`,
  );
}

/** Validates the provider's data by the rules of a direct creation, but omits implausible dates, which the caller cannot correct. */
export function validateFound<Output>(of: LookUp, schema: Schema<unknown, Output>, found: Unchecked): Output {
  const { services, requestId, provider, entity } = of;
  const { kept, left } = withoutImplausibleDates(found, services.serviceNow());
  if (left.length > 0)
    services.logger.warn({ requestId, provider, entity, fields: left }, 'implausible dates left out');
  const { value, problems } = check(schema, kept, ['data', entity]);
  rejectProblems(of, problems);
  return value;
}

/**
 * Rejects with 422, not 400, because the data is not the caller's. Names field and rule but not the value, which would
 * put someone's personal data into an error.
 */
export function rejectProblems(
  { provider, entity }: Pick<LookUp, 'provider' | 'entity'>,
  problems: readonly Problem[],
) {
  const [first, ...rest] = problems.map(({ message, messageParameters: [, field] }): Problem => {
    const rule = `The data of ${provider} cannot be imported: ${message}`;
    return { code: 'connect.resource.invalid', message: rule, messageParameters: [entity, field, ''] };
  });
  if (first !== undefined) throw new DomainError([first, ...rest]);
}
