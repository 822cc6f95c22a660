import { asc, sql } from 'drizzle-orm';
import { requireTransition } from '../../domain/common/transitions.ts';
import {
  CONSENT_CHECK_MS,
  CONSENT_TRANSITIONS,
  type ConsentEventType,
  decideConsent,
  presentConsent,
} from '../../domain/open-banking/consents.ts';
import { readClock } from '../common/clock.ts';
import { appendEventsToEach } from '../common/events.ts';
import { wakeAll } from '../common/open-work.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { lookUpIn } from '../query/rows.ts';
import { thirdPartyProviders } from '../third-party-providers/schema.ts';
import { type ConsentRow, consentOf } from './consents.ts';
import { openBankingConsents } from './schema.ts';

/** Up to this many workflows are woken at once to end; beyond that, each ends by its own timer, and the timers are spread. */
const WOKEN_MAX = 20;

// By the index of what the sweep checks, which is so much later than the deadline.
const DUE = preparedChange((db, given: Given<{ limit: number; checkedAfter: string }>) =>
  db
    .select()
    .from(openBankingConsents)
    .where(sql`${openBankingConsents.nextCheckAt} <= (SELECT service_now() + ${given.checkedAfter}::interval)`)
    .orderBy(asc(openBankingConsents.nextCheckAt))
    .limit(given.limit)
    .for('update', { skipLocked: true }),
);

const THIRD_PARTIES = lookUpIn(thirdPartyProviders);

const EXPIRE = `UPDATE open_banking_consents SET status = 'expired', next_check_at = NULL, revision = revision + 1
  WHERE id = ANY ($1::uuid[])`;

/**
 * Expires a batch of consents past their deadlines, the oldest first, each with its event; returns how many. Skips consents that
 * another transaction has locked.
 */
export async function expireDueConsents(tx: Transaction, limit: number): Promise<number> {
  const found = await tx.run(DUE, { limit, checkedAfter: `${CONSENT_CHECK_MS} milliseconds` });
  if (found.length === 0) return 0;
  const now = await readClock(tx);
  const due = found.filter((row) => decideConsent(consentOf(row), now).do === 'expire');
  if (due.length === 0) return 0;
  for (const { status } of due) requireTransition('consent', CONSENT_TRANSITIONS, status, 'expired');
  const ids = due.map(({ id }) => id);
  const shown = await showExpired(tx, due);
  await tx.statement(EXPIRE, [ids]);
  appendEventsToEach(
    tx,
    'open-banking-consents',
    shown.map((event) => ({ ...event, occurredAt: now })),
  );
  if (ids.length <= WOKEN_MAX) await wakeAll(tx, 'consent', ids);
  return due.length;
}

async function showExpired(tx: Transaction, due: readonly ConsentRow[]) {
  const ids = [...new Set(due.map(({ thirdPartyProviderId }) => thirdPartyProviderId))];
  const parties = new Map((await tx.run(THIRD_PARTIES, { ids })).map((party) => [party.id, party]));
  const type: ConsentEventType = 'consent-expired';
  return due.map((row) => {
    const party = parties.get(row.thirdPartyProviderId);
    if (party === undefined) throw new Error(`the third-party provider ${row.thirdPartyProviderId} is gone`);
    const data = presentConsent({ ...consentOf(row), status: 'expired' }, party);
    return { resourceId: row.id, entries: [{ type, data }] };
  });
}
