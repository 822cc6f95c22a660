import { type CheckedType, decideBySignal, isComplianceCheckOpen } from '../../db/compliance/checks.ts';
import type { SignalledDecision } from '../../domain/compliance/procedures.ts';
import { DomainError } from '../../domain/frame/errors.ts';
import type { ActivityDependencies } from '../frame/dependencies.ts';
import { TRANSITION_LIMITS } from '../frame/open-work.ts';

export type ComplianceTransitions = ReturnType<typeof complianceTransitions>;

export function complianceTransitions({
  database,
  configuration: rules,
  logger,
}: Pick<ActivityDependencies, 'database' | 'configuration' | 'logger'>) {
  return {
    /** A decision that comes too late has no effect; every other failure is tried again. */
    async recordComplianceDecision(type: CheckedType, id: string, decision: SignalledDecision): Promise<void> {
      try {
        await database.transaction((tx) => decideBySignal(tx, { type, id }, decision, rules), TRANSITION_LIMITS);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (await isComplianceCheckOpen(database.reader, { type, id })) throw error;
        logger.warn({ type, id, reason: error.code }, 'a compliance decision by signal has no effect');
      }
    },
  };
}
