import { stringify } from 'lossless-json';
import type { OutgoingTransferId } from '../domain/ids.ts';
import type { OutgoingTransferStep, PaymentReport } from '../domain/outgoing-transfers.ts';
import type { Database, Transaction } from './client.ts';
import { insertOfEventsOf, newEventRowId } from './events.ts';
import { gatheredPerDatabase, orEachAlone } from './gathering.ts';
import { type Posting, postingCallOf, postingValues } from './ledger.ts';
import { CHANGES_OF_RECORD, changesOf, save } from './outgoing-transfer-rows.ts';
import {
  advance,
  applyWord,
  begin,
  type OutgoingTransferRow,
  type TransferRules,
  type Work,
} from './outgoing-transfer-work.ts';
import { outgoingTransfers } from './schema.ts';
import { everyColumn, LISTED_IDS, toWire } from './values.ts';
import { WithoutTransaction } from './without-transaction.ts';

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
  const without = new WithoutTransaction();
  const postings: Posting[] = [];
  const work: Work = {
    tx: without,
    post: (posting) => postings.push(posting),
    now: found.now,
    rules,
    before: found,
    accounts: new Map(),
    transfer: found,
    entries: [],
    isNew: false,
  };
  const step = await apply(work, attempt, report);
  // Without a posting, it was another attempt's.
  if (without.wasNeeded || postings.length === 0) return null;
  return (await recordTogether(database, { work, postings })) ? step : null;
}

interface Judged {
  readonly work: Work;
  readonly postings: readonly Posting[];
}

const recordTogether = gatheredPerDatabase<Judged, boolean>(
  (database, all) => orEachAlone(all, () => record(database, all), false),
  ({ work }) => [work.transfer.accountId],
);

// Accounts are locked before transfers, each in the order of their ids, and nobody waits for a lock. The revision is compared with
// that of the row as it is under the lock. The postings of a transfer keep their order: the fee is the entry after the principal.
const RECORD = `
  WITH told AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS told (id uuid, account_id uuid, decided_from bigint, event_id uuid, entries json)
  ), account AS MATERIALIZED (
    SELECT id FROM accounts WHERE id = ANY (ARRAY(SELECT account_id FROM told)) ORDER BY id FOR UPDATE SKIP LOCKED
  ), transfer AS MATERIALIZED (
    SELECT id FROM outgoing_transfers
    WHERE id = ANY (ARRAY(SELECT told.id FROM told JOIN account ON account.id = told.account_id)) ORDER BY id FOR UPDATE SKIP LOCKED
  ), recorded AS (
    UPDATE outgoing_transfers AS recorded
    SET ${CHANGES_OF_RECORD}, event_sequence = recorded.event_sequence + json_array_length(told.entries)
    FROM told JOIN json_populate_recordset(NULL::outgoing_transfers, $2::json) AS judged ON judged.id = told.id
    WHERE recorded.id = told.id AND recorded.id = ANY (ARRAY(SELECT id FROM transfer)) AND recorded.revision = told.decided_from
    RETURNING recorded.id, recorded.event_sequence - json_array_length(told.entries) + 1 AS first_sequence, told.event_id, told.entries,
      recorded.updated_at
  ), event AS (
    ${insertOfEventsOf('outgoing-transfers', 'recorded')}
  )
  SELECT id, ${postingCallOf('posting.texts')} AS posted FROM (
    SELECT recorded.id, texts FROM recorded JOIN json_to_recordset($3::json) AS posting (id uuid, number integer, texts text[])
      ON posting.id = recorded.id ORDER BY number
  ) AS posting`;

async function record(database: Database, all: readonly Judged[]): Promise<readonly boolean[]> {
  const told = all.map(({ work: { before, entries } }) => {
    const { id, accountId, revision } = before;
    return { id, account_id: accountId, decided_from: revision.toString(), event_id: newEventRowId(), entries };
  });
  const changes = all.map(({ work }) => ({ id: work.before.id, ...changesOf(work) }));
  const postings = all.flatMap((judged) =>
    judged.postings.map((posting, number) => {
      const texts = postingValues(posting).map(toWire);
      return { id: judged.work.before.id, number, texts };
    }),
  );
  const parameters = [stringify(told), JSON.stringify(changes), JSON.stringify(postings)];
  const recorded = await database.statement<{ id: OutgoingTransferId }>(RECORD, parameters);
  const ids = new Set(recorded.map(({ id }) => id));
  return all.map(({ work }) => ids.has(work.before.id));
}
