import { recordNotFound } from '../../domain/common/errors.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import {
  type CheckedTransfer,
  type ComplianceDecision,
  isInReview,
  presentComplianceCheck,
  RULES_ACTOR,
} from '../../domain/compliance/checks.ts';
import type { ProcedureResult, SignalledDecision } from '../../domain/compliance/procedures.ts';
import type { ScreeningResult } from '../../domain/compliance/rules.ts';
import { decideIncomingReview } from '../../domain/incoming-transfers/reviews.ts';
import { decideOutgoingReview, decideReceiversReview } from '../../domain/outgoing-transfers/outcomes/reviews.ts';
import type { ComplianceMode } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { begin, TRANSFER as INCOMING, namedReceiverOf } from '../incoming-transfers/holds.ts';
import { lockReceiver } from '../incoming-transfers/payment-matching.ts';
import { moveMoney } from '../incoming-transfers/work.ts';
import { lockSituation } from '../outgoing-transfers/situations.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, named, prepared } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';
import { type CheckedPayment, readInvolved } from './involved.ts';

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
 * Records a decision about a transfer's compliance check and immediately does what follows from it. Repeating the recorded
 * decision changes nothing; a check that is final, or belongs to a transfer that has ended, throws, and so does a decision by someone
 * who made, authorized or assigned the payment.
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

/** The same at a door that lets the built-in rules screen first: until they have, it only rejects. */
export async function decideScreenedCheck(
  tx: Transaction,
  checked: CheckedId,
  { result, mode }: { readonly result: ProcedureResult; readonly mode: ComplianceMode },
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  await decide(tx, checked, { result, mode, initiator, rules });
}

/**
 * Records the result of the service's own rules for a transfer and immediately does what follows from it. If a person was faster,
 * nothing changes.
 */
export async function recordScreeningResult(
  tx: Transaction,
  checked: CheckedId,
  { result, rule }: ScreeningResult,
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
  readonly rule?: ScreeningResult['rule'];
  readonly mode?: ComplianceMode;
}

async function decideOutgoing(tx: Transaction, id: OutgoingTransferId, decided: Decided): Promise<void> {
  const situation = await lockSituation(tx, id, decided.rules);
  const payment = { id, outgoingTransferId: id, provisionedAccountCreditId: null };
  const change = decideOutgoingReview(situation, await decisionOf(tx, payment, decided));
  if (change?.outgoing == null) return;
  audit(tx, { type: 'outgoing-transfer', id }, change.outgoing, decided.initiator);
  applyUnderLocks(tx, [change]);
}

async function decideIncoming(tx: Transaction, id: IncomingTransferId, decided: Decided): Promise<void> {
  const found = await tx.find(INCOMING, id);
  if (found === null) throw recordNotFound(ENTITIES['incoming-transfer'], 'id', id);
  if (found.outgoingTransferId !== null) {
    const situation = await lockSituation(tx, found.outgoingTransferId, decided.rules);
    const change = decideReceiversReview(situation, await decisionOf(tx, found, decided));
    if (change?.incoming == null) return;
    audit(tx, { type: 'incoming-transfer', id }, change.incoming, decided.initiator);
    applyUnderLocks(tx, [change]);
    return;
  }
  // Matched again: an account may have opened since the money arrived.
  const match = found.accountId === null ? await lockReceiver(tx, namedReceiverOf(found)) : null;
  const { transfer, account, now } = await begin(tx, id, match?.account?.id ?? null);
  const hold = match?.hold ?? null;
  const decision = await decisionOf(tx, transfer, decided);
  const moved = decideIncomingReview(transfer, { account, hold }, decision, now);
  if (moved === null) return;
  const { incoming } = moved;
  audit(tx, { type: 'incoming-transfer', id }, incoming, decided.initiator);
  moveMoney(tx, now, moved);
}

/** Under the transfer's lock. */
async function decisionOf(
  tx: Transaction,
  payment: CheckedPayment,
  { result, rule, mode, initiator: { actor } }: Decided,
): Promise<ComplianceDecision> {
  if (rule !== undefined) return { result, actor, rule, involved: [] };
  return { result, actor, mode, involved: await readInvolved(tx, payment) };
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

/** Records a decision that a signal carried, unless it is recorded already: Temporal may deliver it again. */
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

/** The ids of the decisions that a transfer has received by signal. */
export async function listRecordedDecisions(reader: Reader, transferId: string): Promise<ReadonlySet<string>> {
  const rows = await reader.statement<{ decisionId: string }>(DECISION_IDS, [transferId]);
  return new Set(rows.map(({ decisionId }) => decisionId));
}
