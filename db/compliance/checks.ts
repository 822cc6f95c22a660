import {
  type CheckedTransfer,
  type ComplianceDecision,
  isInReview,
  presentComplianceCheck,
  RULES_ACTOR,
} from '../../domain/compliance/checks.ts';
import type { ProcedureResult, SignalledDecision } from '../../domain/compliance/procedures.ts';
import type { Judgement } from '../../domain/compliance/rules.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/frame/ids.ts';
import { decideIncomingReview } from '../../domain/incoming-transfers/reviews.ts';
import { decideOutgoingReview, decideReceiversReview } from '../../domain/outgoing-transfers/changes.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, named, prepared } from '../driver/queries/queries.ts';
import { isListed } from '../driver/values.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { incomingTransfers, outgoingTransfers } from '../frame/schema.ts';
import { assignCredit, begin, TRANSFER as INCOMING, namedReceiverOf } from '../incoming-transfers/holds.ts';
import { lockReceiver } from '../incoming-transfers/payment-matching.ts';
import { moveMoney } from '../incoming-transfers/work.ts';
import { applyUnderLocks } from '../ledger/transfer-changes.ts';
import { lockSituation } from '../outgoing-transfers/situations.ts';

/** A transfer of either direction, spelled as in the ids of its workflow. */
export const CHECKED_TYPES = ['incoming-transfer', 'outgoing-transfer'] as const;
export type CheckedType = (typeof CHECKED_TYPES)[number];

export interface CheckedId {
  readonly type: CheckedType;
  readonly id: string;
}

const FIELDS = [
  'id',
  'status',
  'currency',
  'complianceCheckStatus',
  'complianceResult',
  'complianceDecidedAt',
  'complianceDecidedBy',
  'complianceRule',
] as const;

const CHECKS = {
  'incoming-transfer': prepared((db, given: Given<{ ids: readonly string[] }>) =>
    db
      .select(named(incomingTransfers, FIELDS))
      .from(incomingTransfers)
      .where(isListed(incomingTransfers.id, given.ids)),
  ),
  'outgoing-transfer': prepared((db, given: Given<{ ids: readonly string[] }>) =>
    db
      .select(named(outgoingTransfers, FIELDS))
      .from(outgoingTransfers)
      .where(isListed(outgoingTransfers.id, given.ids)),
  ),
};

function find(reader: Reader, { type, id }: CheckedId) {
  return type === 'incoming-transfer'
    ? reader.find(CHECKS['incoming-transfer'], id)
    : reader.find(CHECKS['outgoing-transfer'], id);
}

const ENTITIES = { 'incoming-transfer': 'incomingTransfer', 'outgoing-transfer': 'outgoingTransfer' } as const;

/** A transfer's compliance check and currency; throws if the transfer does not exist. */
export async function readComplianceCheck(reader: Reader, { type, id }: CheckedId) {
  const row = await find(reader, { type, id });
  if (row === null) throw recordNotFound(ENTITIES[type], 'id', id);
  return { currency: row.currency, status: row.status, complianceCheck: presentComplianceCheck(row) };
}

/**
 * Records a decision about a transfer's compliance check and does at once what follows from it. The decision that is already
 * recorded changes nothing; a final check, or one of a transfer that has ended, throws.
 */
export async function decideComplianceCheck(
  tx: Transaction,
  { type, id }: CheckedId,
  result: ProcedureResult,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  await decide(tx, { type, id }, { result, initiator, rules });
}

/**
 * Records what the service's own rules say of a transfer and does at once what follows from it. If a person was faster, nothing
 * changes.
 */
export async function recordJudgement(
  tx: Transaction,
  checked: CheckedId,
  { result, rule }: Judgement,
  rules: TransferRules,
): Promise<void> {
  await decide(tx, checked, { result, rule, initiator: { actor: RULES_ACTOR, requestId: null }, rules });
}

async function decide(tx: Transaction, { type, id }: CheckedId, decided: Decided): Promise<void> {
  if (type === 'outgoing-transfer') await decideOutgoing(tx, asId<OutgoingTransferId>(id), decided);
  else await decideIncoming(tx, asId<IncomingTransferId>(id), decided);
}

interface Decided {
  readonly result: ProcedureResult;
  readonly initiator: Initiator;
  readonly rules: TransferRules;
  /** As in ComplianceDecision. */
  readonly rule?: Judgement['rule'];
}

async function decideOutgoing(tx: Transaction, id: OutgoingTransferId, decided: Decided): Promise<void> {
  const change = decideOutgoingReview(await lockSituation(tx, id, decided.rules), decisionOf(decided));
  if (change?.outgoing == null) return;
  audit(tx, { type: 'outgoing-transfer', id }, change.outgoing, decided.initiator);
  applyUnderLocks(tx, [change]);
}

async function decideIncoming(tx: Transaction, id: IncomingTransferId, decided: Decided): Promise<void> {
  const found = await tx.find(INCOMING, id);
  if (found === null) throw recordNotFound(ENTITIES['incoming-transfer'], 'id', id);
  if (found.outgoingTransferId !== null) {
    const situation = await lockSituation(tx, found.outgoingTransferId, decided.rules);
    const change = decideReceiversReview(situation, decisionOf(decided));
    if (change?.incoming == null) return;
    audit(tx, { type: 'incoming-transfer', id }, change.incoming, decided.initiator);
    applyUnderLocks(tx, [change]);
    return;
  }
  // Match again: an account may have opened since the money arrived.
  const match = found.accountId === null ? await lockReceiver(tx, namedReceiverOf(found)) : null;
  const { transfer, account, now } = await begin(tx, id, match?.account?.id ?? null);
  const hold = match?.hold ?? null;
  const moved = decideIncomingReview(transfer, { account, hold }, decisionOf(decided), now);
  if (moved === null) return;
  const { incoming } = moved;
  if (transfer.accountId === null && account !== null && incoming.after.accountId !== null) {
    assignCredit(tx, transfer, account);
  }
  audit(tx, { type: 'incoming-transfer', id }, incoming, decided.initiator);
  moveMoney(tx, now, moved);
}

function decisionOf({ result, rule, initiator: { actor } }: Decided): ComplianceDecision {
  return { result, actor, ...(rule === undefined ? {} : { rule }) };
}

type AuditedRow = CheckedTransfer & { readonly status: string };

function audit(
  tx: Transaction,
  { type, id }: CheckedId,
  { before, after }: { readonly before: AuditedRow | null; readonly after: AuditedRow },
  initiator: Initiator,
): void {
  const entry = { initiator, resource: type, resourceId: id, action: 'reviewed' } as const;
  appendAuditEntry(tx, {
    ...entry,
    ...(before === null ? {} : { before: auditedFields(before) }),
    after: auditedFields(after),
  });
}

function auditedFields(transfer: AuditedRow): AuditedFields {
  return { status: transfer.status, complianceCheck: presentComplianceCheck(transfer) };
}

const CLAIM_DECISION = `INSERT INTO compliance_decisions (transfer_id, decision_id, received_at) VALUES ($1, $2, service_now())
  ON CONFLICT DO NOTHING RETURNING decision_id`;

/** Records a decision that a signal carried, unless this transfer has had it before: Temporal may deliver it again. */
export async function decideBySignal(
  tx: Transaction,
  checked: CheckedId,
  { decisionId, result, actor }: SignalledDecision,
  rules: TransferRules,
): Promise<void> {
  const claimed = await tx.statement(CLAIM_DECISION, [checked.id, decisionId]);
  if (claimed.length === 0) return;
  await decideComplianceCheck(tx, checked, result, { actor, requestId: decisionId }, rules);
}

/** Whether a transfer's check still waits for a decision. */
export async function isComplianceCheckOpen(reader: Reader, { type, id }: CheckedId): Promise<boolean> {
  const row = await find(reader, { type, id });
  return row !== null && isInReview(row) && (row.status === 'pending' || row.status === 'on-hold');
}

const DECISION_IDS = `SELECT decision_id AS "decisionId" FROM compliance_decisions WHERE transfer_id = $1`;

/** The ids of the decisions that a transfer has had by signal. */
export async function listRecordedDecisions(reader: Reader, transferId: string): Promise<ReadonlySet<string>> {
  const rows = await reader.statement<{ decisionId: string }>(DECISION_IDS, [transferId]);
  return new Set(rows.map(({ decisionId }) => decisionId));
}
