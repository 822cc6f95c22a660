import { stringify } from 'lossless-json';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { batchedPerDatabase, fallBackToSingle } from '../driver/batcher.ts';
import type { CallLimits, Database, Transaction } from '../driver/client.ts';
import { everyColumn, LISTED_IDS, toWire } from '../driver/values.ts';
import { insertOfEventsOf, newEventRowId } from '../frame/events.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { type Posting, postingCallOf, postingValues } from '../ledger/ledger.ts';
import { CHANGES_OF_RECORD, changesOf, save } from './rows.ts';
import { withoutTransaction } from './without-transaction.ts';
import { advance, applyWord, begin, type OutgoingTransferRow, type TransferRules, type Work } from './work.ts';

/** Records the outcome of a submission, once per attempt; a later or repeated record only says what is next. */
export async function recordSubmission(
  tx: Transaction,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const work = await begin(tx, id, rules);
  const step = await apply(work, attempt, report);
  save(work);
  return step;
}

async function apply(work: Work, attempt: number, report: PaymentReport): Promise<OutgoingTransferStep> {
  if (work.transfer.submissionStatus === 'unresolved' && work.transfer.submissionAttempt === attempt) {
    work.transfer = { ...work.transfer, submissionStatus: 'resolved' };
    await applyWord(work, report);
  }
  return advance(work);
}

/*
 * Nearly every bank says of nearly every submission that it was taken or completed. That is recorded in two statements, which are shared
 * with others of the same moment: one reads the transfer, without locks; the other records those whose transfer still has, under the
 * locks, the revision that it was decided from. Whatever does not fit goes the slow way, in a transaction of its own.
 */

const FIND = `SELECT ${everyColumn(outgoingTransfers)}, service_now() AS now FROM outgoing_transfers WHERE id = ANY (${LISTED_IDS})`;

/** As `recordSubmission`, of a payment that was taken or completed. Null: nothing was done, and it must be recorded in a transaction. */
export async function recordTakenSubmission(
  database: Database,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep | null> {
  if (report.word !== 'released' && report.word !== 'completed') return null;
  const found = await database.reader.find<OutgoingTransferRow & { readonly now: Date }>(FIND, id);
  if (found?.status !== 'processing' || found.scope !== 'external') return null;
  const postings: Posting[] = [];
  const decided = await withoutTransaction(async (tx) => {
    const work: Work = {
      tx,
      post: (posting) => postings.push(posting),
      now: found.now,
      rules,
      before: found,
      accounts: new Map(),
      transfer: found,
      entries: [],
      isNew: false,
    };
    return { work, step: await apply(work, attempt, report) };
  });
  // Without a posting nothing was released: it was another attempt's answer, or one that is known.
  if (decided === null || postings.length === 0) return null;
  const { work, step } = decided;
  return (await recordTogether(database, { work, postings, eventId: newEventRowId() })) ? step : null;
}

/** What one answer makes of a transfer. The id of its row of events stands for it: the same transfer may be decided twice at one moment. */
interface Judged {
  readonly work: Work;
  readonly postings: readonly Posting[];
  readonly eventId: string;
}

const recordTogether = batchedPerDatabase<Judged, boolean>(
  (database, all, limits) =>
    fallBackToSingle(database, 'record_submissions', all, () => record(database, all, limits), false),
  ({ work }) => [work.transfer.accountId],
);

// Accounts are locked before transfers, each in the order of their ids, and nobody waits for these locks. It decides nothing from what it reads:
// the UPDATE compares the revision with that of the row as it is under its lock, which is why one statement may lock and write. All that
// it writes of a transfer is of one answer. The postings of a transfer keep their order: the fee is the entry after the principal. OFFSET 0, so that the
// deadline is looked at after each posting, and not before.
const RECORD = `
  WITH judged AS MATERIALIZED (
    SELECT * FROM json_to_recordset(before_deadline($2, $1::json))
      AS judged (id uuid, account_id uuid, decided_from bigint, changes json, event_id uuid, entries json, postings json)
  ), account AS MATERIALIZED (
    SELECT id FROM accounts WHERE id = ANY (ARRAY(SELECT account_id FROM judged)) ORDER BY id FOR UPDATE SKIP LOCKED
  ), transfer AS MATERIALIZED (
    SELECT id FROM outgoing_transfers
    WHERE id = ANY (ARRAY(SELECT judged.id FROM judged JOIN account ON account.id = judged.account_id)) ORDER BY id FOR UPDATE SKIP LOCKED
  ), recorded AS (
    UPDATE outgoing_transfers AS recorded
    SET ${CHANGES_OF_RECORD}, event_sequence = recorded.event_sequence + json_array_length(judged.entries)
    FROM judged CROSS JOIN LATERAL json_populate_record(NULL::outgoing_transfers, judged.changes) AS change
    WHERE recorded.id = judged.id AND recorded.id = ANY (ARRAY(SELECT id FROM transfer)) AND recorded.revision = judged.decided_from
    RETURNING recorded.id, recorded.event_sequence - json_array_length(judged.entries) + 1 AS first_sequence, recorded.updated_at,
      judged.event_id, judged.entries, judged.postings
  ), event AS (
    ${insertOfEventsOf('outgoing-transfers', 'recorded')}
  )
  SELECT "eventId", posted FROM (
    SELECT event_id AS "eventId", ${postingCallOf('posting.texts')} AS posted FROM (
      SELECT event_id, texts FROM recorded CROSS JOIN LATERAL json_to_recordset(postings) AS posting (number integer, texts text[])
      ORDER BY id, number
    ) AS posting OFFSET 0
  ) AS done WHERE before_deadline($2)`;

async function record(database: Database, all: readonly Judged[], limits: CallLimits): Promise<readonly boolean[]> {
  const judged = all.map(({ work, postings, eventId }) => ({
    id: work.before.id,
    account_id: work.before.accountId,
    decided_from: work.before.revision.toString(),
    changes: changesOf(work),
    event_id: eventId,
    entries: work.entries,
    postings: postings.map((posting, number) => ({ number, texts: postingValues(posting).map(toWire) })),
  }));
  const recorded = await database.write<{ eventId: string }>(RECORD, [stringify(judged)], limits);
  const eventIds = new Set(recorded.map(({ eventId }) => eventId));
  return all.map(({ eventId }) => eventIds.has(eventId));
}
