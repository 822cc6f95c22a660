import {
  type CheckedType,
  decideBySignal,
  isComplianceCheckOpen,
  recordJudgement,
} from '../../db/compliance/checks.ts';
import { readRuleFacts } from '../../db/compliance/rule-facts.ts';
import type { SignalledDecision } from '../../domain/compliance/procedures.ts';
import { type Judgement, judge, rulesOf } from '../../domain/compliance/rules.ts';
import { DomainError } from '../../domain/frame/errors.ts';
import type { ActivityDependencies } from '../frame/dependencies.ts';
import { whileHeartbeating } from '../frame/heartbeats.ts';
import { TRANSITION_LIMITS } from '../frame/open-work.ts';
import type { NameLists } from './name-lists.ts';

export type ComplianceTransitions = ReturnType<typeof complianceTransitions>;
export type ComplianceReviews = ReturnType<typeof complianceReviews>;

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
    /** What the rules say; without effect if a person has decided meanwhile. */
    async recordComplianceJudgement(type: CheckedType, id: string, judgement: Judgement): Promise<void> {
      await database.transaction((tx) => recordJudgement(tx, { type, id }, judgement, rules), TRANSITION_LIMITS);
    },
  };
}

const DIRECTIONS = { 'incoming-transfer': 'incoming', 'outgoing-transfer': 'outgoing' } as const;

/** The service's own review. Names and amounts stay here: histories show the result and the rule alone. */
export function complianceReviews({
  database,
  configuration,
  nameLists,
}: Pick<ActivityDependencies, 'database' | 'configuration'> & { readonly nameLists: NameLists }) {
  return {
    /** Judges by the configured rules. Throws, to be tried again, while a rule cannot be applied. */
    async reviewTransfer(type: CheckedType, id: string): Promise<Judgement> {
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
        return judge(rules, facts.transfer, { activity, isListed });
      });
    },
  };
}
