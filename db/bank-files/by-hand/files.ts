import {
  decideDelivered,
  decideHandOut,
  decideSetAside,
  decideSettled,
  type FileStanding,
  requireTakeable,
} from '../../../domain/bank-files/by-hand/files.ts';
import { recordNotFound, rejection } from '../../../domain/common/errors.ts';
import type { BankFileId } from '../../../domain/common/ids.ts';
import { auditorOf, type Initiator } from '../../common/audit-entries.ts';
import { closureInWords, readClosure } from '../../providers/submissions.ts';
import type { Reader, Transaction } from '../../query/database.ts';
import { markDelivered } from '../files.ts';

// What people do about a file. Each decides under the row's lock, which every step of the exchange takes as well, and leaves an audit entry.

export const auditFile = auditorOf('bank-file');

const STANDING = `
  SELECT file.id, file.direction, file.state, file.provider, encode(file.digest, 'hex') AS digest, file.rename_began_at AS "renameBeganAt",
    file.handed_out_by AS "handedOutBy", file.let_go_at AS "letGoAt", file.settled_at AS "settledAt",
    file.heard_at IS NOT NULL
      OR EXISTS (SELECT FROM bank_instructions told WHERE told.file_id = file.id AND told.heard_at IS NOT NULL)
      OR EXISTS (SELECT FROM bank_instructions paid JOIN bank_entries entry ON entry.transfer_id = paid.transfer_id
        WHERE paid.file_id = file.id AND entry.kind IN ('payment', 'return'))
      OR EXISTS (SELECT FROM bank_cancellations asked WHERE asked.file_id = file.id AND asked.state IN ('accepted', 'rejected')) AS "isHeardOf",
    NOT EXISTS (SELECT FROM bank_instructions within WHERE within.file_id = file.id)
      AND NOT EXISTS (SELECT FROM bank_cancellations within WHERE within.file_id = file.id) AS "isEmpty",
    EXISTS (SELECT FROM bank_instructions open WHERE open.file_id = file.id AND open.delivered_at IS NULL
      AND open.state NOT IN ('completed', 'rejected', 'failed')) AS "hasOpenPayments",
    EXISTS (SELECT FROM bank_instructions within JOIN outgoing_transfers ended ON ended.id = within.transfer_id
      WHERE within.file_id = file.id AND ended.status IN ('cancelled', 'failed')) AS "hasEndedPayments"
  FROM bank_files file WHERE file.id = $1::uuid`;
const LOCK = 'SELECT 1 FROM bank_files WHERE id = $1::uuid FOR UPDATE';

type Standing = FileStanding & { readonly provider: string };

export async function readStanding(reader: Reader, id: BankFileId): Promise<Standing | null> {
  const [found] = await reader.statement<Standing>(STANDING, [id]);
  return found ?? null;
}

/** The file under its lock: what it is then stays until the transaction ends. */
export async function lockStanding(tx: Transaction, id: BankFileId): Promise<Standing> {
  await tx.statement(LOCK, [id]);
  const found = await readStanding(tx, id);
  if (found === null) throw recordNotFound('bankFile', 'id', id);
  return found;
}

const HAND_OUT = `
  UPDATE bank_files SET state = 'handed-out', handed_out_by = $2, handed_out_at = service_now(), let_go_at = clock_timestamp(), reason = NULL
  WHERE id = $1::uuid AND state IN ('built', 'delivering') AND rename_began_at IS NULL RETURNING id`;

/** From this commit on a person carries the file, and no upload of it ever gets its name. */
export async function handOutFile(tx: Transaction, id: BankFileId, initiator: Initiator): Promise<'first' | 'again'> {
  const file = await lockStanding(tx, id);
  const closure = await readClosure(tx);
  if (closure !== null) {
    const message = `File ${id}: ${closureInWords(closure)}.`;
    throw rejection('common.state.illegal_transition', ['bankFile', 'state', 'handed-out'], message);
  }
  const decided = decideHandOut(file, initiator.actor);
  const { state } = file;
  if (decided === 'first') {
    await moved(tx, id, HAND_OUT, [id, initiator.actor]);
    auditFile(tx, id, { initiator, action: 'handed-out', before: { state }, after: { state: 'handed-out' } });
  } else auditFile(tx, id, { initiator, action: 'handed-out-again', after: { state } });
  return decided;
}

const MARKED = 'UPDATE bank_files SET marked_by = $2 WHERE id = $1::uuid';

/** A person says that the bank has the file; false: it is known. Its payments are at the bank from now on. */
export async function markDeliveredByHand(
  tx: Transaction,
  id: BankFileId,
  { digest, silenceHours }: { readonly digest: string; readonly silenceHours: number },
  initiator: Initiator,
): Promise<boolean> {
  const file = await lockStanding(tx, id);
  if (!decideDelivered(file, digest)) return false;
  await markDelivered(tx, id, silenceHours);
  await tx.statement(MARKED, [id, initiator.actor]);
  const after = { state: 'delivered', digest: file.digest };
  auditFile(tx, id, { initiator, action: 'marked-delivered', before: { state: file.state }, after });
  return true;
}

const SET_ASIDE = `
  UPDATE bank_files SET state = 'set-aside', reason = $2, let_go_at = clock_timestamp() WHERE id = $1::uuid AND state IN ('built', 'delivering', 'handed-out', 'fetched')
  RETURNING id`;

/** Takes a file out of the service's hands; false: it is set aside already. */
export async function setFileAside(tx: Transaction, id: BankFileId, initiator: Asked): Promise<boolean> {
  const file = await lockStanding(tx, id);
  if (!decideSetAside(file)) return false;
  await moved(tx, id, SET_ASIDE, [id, initiator.reason]);
  auditFile(tx, id, { initiator, action: 'set-aside', before: { state: file.state }, after: { state: 'set-aside' } });
  return true;
}

type Asked = Initiator & { readonly reason: string };

/** A person reads a file's bytes, which hold personal data. */
export async function noteContentShown(tx: Transaction, id: BankFileId, initiator: Initiator): Promise<void> {
  const { state } = await lockStanding(tx, id);
  auditFile(tx, id, { initiator, action: 'content-shown', after: { state } });
}

const SETTLE = `
  UPDATE bank_files SET settled_at = service_now() WHERE id = $1::uuid AND state = 'set-aside' AND settled_at IS NULL RETURNING id`;

/** A person has seen to a file that is set aside: it raises no alarm any more. False: it is known. */
export async function settleFile(tx: Transaction, id: BankFileId, initiator: Asked): Promise<boolean> {
  const file = await lockStanding(tx, id);
  if (!decideSettled(file)) return false;
  await moved(tx, id, SETTLE, [id]);
  auditFile(tx, id, { initiator, action: 'settled', after: { state: file.state } });
  return true;
}

const TAKE_AGAIN = `
  UPDATE bank_files SET state = 'fetched', reason = NULL, tries = 0, settled_at = NULL WHERE id = $1::uuid AND state = 'set-aside' RETURNING id`;

/** Has a file of the bank read again from its beginning. */
export async function takeFileAgain(tx: Transaction, id: BankFileId, initiator: Asked): Promise<void> {
  const file = await lockStanding(tx, id);
  requireTakeable(file);
  await moved(tx, id, TAKE_AGAIN, [id]);
  auditFile(tx, id, { initiator, action: 'taken-again', before: { state: file.state }, after: { state: 'fetched' } });
}

/** One row under its lock: a statement that moves none contradicts the decision. */
export async function moved(
  tx: Transaction,
  id: BankFileId,
  statement: string,
  values: readonly unknown[],
): Promise<void> {
  if ((await tx.statement(statement, [...values])).length !== 1) throw new Error(`bank file ${id} was not moved`);
}
