import type { Logger } from 'pino';
import { describeOpenWork, type OpenWorkType } from '../../db/common/open-work.ts';
import { countReleasedBefore } from '../../db/outgoing-transfers/wait-facts.ts';
import type { Database, Reader } from '../../db/query/database.ts';
import { DomainError } from '../../domain/common/errors.ts';
import {
  JITTER_MS_MAX,
  type OpenWork,
  RELEASE_MS_MAX,
  releaseDelayMs,
  type Wait,
  type WithWait,
} from '../../domain/common/waits.ts';
import { EXPIRY_JITTER_MS_MAX } from '../../domain/open-banking/consents.ts';
import { isDateWait } from '../../domain/outgoing-transfers/statuses.ts';

/** Below the two seconds that a workflow allows a transition, so that a slow one is rolled back here. */
export const TRANSITION_LIMITS = { deadlineMs: 1_900, lockTimeoutMs: 1_200 } as const;

export type OpenWorkReads = ReturnType<typeof openWorkReads>;

export function openWorkReads({ database }: { readonly database: Database }) {
  return {
    async describeWait(type: OpenWorkType, id: string): Promise<Wait> {
      return describeWait(database.reader, type, id, null, null);
    },
  };
}

/**
 * Ends the workflow if its row is gone: the database was restored to an earlier time. The comparison of statements
 * finds what the provider did for that row.
 */
export async function endWhenGone<Next>(
  logger: Logger,
  id: string,
  step: () => Promise<Next>,
): Promise<Next | { readonly do: 'end' }> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'common.coding.internal.record_not_found') throw error;
    logger.error({ id }, 'the row of this workflow does not exist; the workflow ends');
    return { do: 'end' };
  }
}

type Step = { readonly do: string } | { readonly do: 'wait'; readonly for: string; readonly until: string | null };

/** Completes a wait with its length by the database's clock and with the facts that operators see. */
export async function withWait<Decided extends Step>(
  reader: Reader,
  type: OpenWorkType,
  id: string,
  step: Decided,
  releasesPerSecond: number | null = null,
): Promise<WithWait<Decided>> {
  if (!isWait(step)) return step as Exclude<Decided, { readonly do: 'wait' }>;
  return describeWait(reader, type, id, step.until, releasesPerSecond);
}

function isWait(step: Step): step is { readonly do: 'wait'; readonly for: string; readonly until: string | null } {
  return step.do === 'wait';
}

async function describeWait(
  reader: Reader,
  type: OpenWorkType,
  id: string,
  until: string | null,
  releasesPerSecond: number | null,
): Promise<Wait> {
  const { work, rule, since, cutOffAt, now } = await describeOpenWork(reader, type, id);
  const sinceText = since?.toISOString() ?? null;
  const review = work.waitingFor === 'compliance' ? { review: { rule, since: sinceText } } : {};
  const shared = { do: 'wait', for: work.waitingFor, since: sinceText, until, work, ...review } as const;
  if (until === null) return { ...shared, waitMs: null };
  const due = new Date(until);
  const after = (delayMs: number): Wait => ({
    ...shared,
    waitMs: Math.ceil(due.getTime() - now.getTime() + delayMs),
  });
  const random = Math.random();
  if (type === 'consent') return after(random * EXPIRY_JITTER_MS_MAX);
  if (releasesPerSecond !== null && isRelease(work, cutOffAt)) {
    const ahead = await countReleasedBefore(reader, until, id, Math.ceil(releasesPerSecond * (RELEASE_MS_MAX / 1_000)));
    return after(releaseDelayMs(due, cutOffAt, { ahead, perSecond: releasesPerSecond, random }));
  }
  return after(due.getTime() === cutOffAt?.getTime() ? random * JITTER_MS_MAX : 0);
}

/** Whether many transfers may be released at the instant for which this one waits. */
function isRelease({ waitingFor }: OpenWork, cutOffAt: Date | null): boolean {
  if (isDateWait(waitingFor)) return true;
  // A retry without a window has a pause of its own.
  return waitingFor === 'retry' && cutOffAt !== null;
}
