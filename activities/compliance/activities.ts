import {
  type CheckedType,
  decideBySignal,
  isComplianceCheckOpen,
  recordScreeningResult,
} from '../../db/compliance/checks.ts';
import { readRuleFacts } from '../../db/compliance/rule-facts.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { SignalledDecision } from '../../domain/compliance/procedures.ts';
import { rulesOf, type ScreeningResult, screen } from '../../domain/compliance/rules.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { TRANSITION_LIMITS } from '../common/open-work.ts';
import type { NameLists } from './name-lists.ts';

export type ComplianceTransitions = ReturnType<typeof complianceTransitions>;
export type ComplianceReviews = ReturnType<typeof complianceReviews>;

export function complianceTransitions({
  database,
  configuration: rules,
  logger,
}: Pick<ActivityDependencies, 'database' | 'configuration' | 'logger'>) {
  return {
    /** A decision that comes too late, or from someone involved in the payment, has no effect; every other failure is retried. */
    async recordComplianceDecision(type: CheckedType, id: string, decision: SignalledDecision): Promise<void> {
      try {
        await database.transaction((tx) => decideBySignal(tx, { type, id }, decision, rules), TRANSITION_LIMITS);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const isForbidden = error.code === 'common.security.access_denied';
        if (!isForbidden && (await isComplianceCheckOpen(database.reader, { type, id }))) throw error;
        logger.warn({ type, id, reason: error.code }, 'a compliance decision by signal has no effect');
      }
    },
    /** Has no effect if a person has decided in the meantime. */
    async recordComplianceJudgement(type: CheckedType, id: string, result: ScreeningResult): Promise<void> {
      await database.transaction((tx) => recordScreeningResult(tx, { type, id }, result, rules), TRANSITION_LIMITS);
    },
  };
}

const DIRECTIONS = { 'incoming-transfer': 'incoming', 'outgoing-transfer': 'outgoing' } as const;

/** Built-in screening. Names and amounts stay here: histories contain only the result and the rule. */
export function complianceReviews({
  database,
  configuration,
  nameLists,
}: Pick<ActivityDependencies, 'database' | 'configuration'> & { readonly nameLists: NameLists }) {
  return {
    /** Screens the transfer by the configured rules. Throws, and is retried, while a rule cannot be applied. */
    async reviewTransfer(type: CheckedType, id: string): Promise<ScreeningResult> {
      return whileHeartbeating(async () => {
        const direction = DIRECTIONS[type];
        const rules = rulesOf(configuration.complianceRules, direction);
        const velocities = rules.filter((rule) => rule.kind === 'velocity');
        const windowsMs = velocities.map((rule) => rule.windowMs);
        const facts = await readRuleFacts(database.reader, { direction, id }, windowsMs);
        const activity = new Map(
          velocities.flatMap(({ name }, at) => {
            const found = facts.activity[at];
            return found === undefined ? [] : [[name, found] as const];
          }),
        );
        const isListed = new Map<string, boolean>();
        for (const rule of rules) {
          if (rule.kind !== 'name') continue;
          isListed.set(rule.name, await nameLists.isListed(rule, facts.transfer.counterpartyNames));
        }
        return screen(rules, facts.transfer, { activity, isListed });
      });
    },
  };
}
