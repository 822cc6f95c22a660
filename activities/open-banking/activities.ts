import { advanceConsent } from '../../db/open-banking/consents.ts';
import { asId, type ConsentId } from '../../domain/common/ids.ts';
import type { WithWait } from '../../domain/common/waits.ts';
import type { ConsentStep } from '../../domain/open-banking/consents.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from '../common/open-work.ts';

export type ConsentNext = WithWait<ConsentStep>;

export type ConsentTransitions = ReturnType<typeof consentTransitions>;

export function consentTransitions({ database, logger }: ActivityDependencies) {
  return {
    async advanceConsent(id: string): Promise<ConsentNext> {
      return endWhenGone(logger, id, () =>
        database.transaction(
          async (tx) => withWait(tx, 'consent', id, await advanceConsent(tx, asId<ConsentId>(id))),
          TRANSITION_LIMITS,
        ),
      );
    },
  };
}
