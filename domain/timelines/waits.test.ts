import { describe, expect, test } from 'vitest';
import { asId, type IncomingTransferId } from '../common/ids.ts';
import {
  INCOMING_TRANSFER_WAITS,
  type IncomingTransferWait,
  newIncomingTransfer,
} from '../incoming-transfers/incoming-transfers.ts';
import type { ComplianceMode } from '../outgoing-transfers/requirement-rules.ts';
import { newOutgoingTransfer } from '../outgoing-transfers/rows.ts';
import { OUTGOING_TRANSFER_WAITS, type OutgoingTransferWait } from '../outgoing-transfers/statuses.ts';
import { waitOfIncomingTransfer, waitOfOutgoingTransfer } from './waits.ts';

const at = new Date('2027-06-16T12:00:00Z');
const shared = { transactionNumber: 'n', currency: 'GBP', amountMinor: 1_000n, method: 'built-in' } as const;

function outgoing(waitingFor: OutgoingTransferWait | null) {
  return newOutgoingTransfer({
    ...shared,
    id: asId('outgoing'),
    clientId: asId('payer'),
    accountId: asId('source'),
    destinationAccountId: asId('destination'),
    status: 'pending',
    scope: 'internal',
    transferDate: '2027-06-17',
    originalTransferDate: '2027-06-17',
    authorizationStatus: 'not-checked',
    complianceCheckStatus: 'not-checked',
    transferDateStatus: 'not-checked',
    balanceCheckStatus: 'not-checked',
    provider: 'bank',
    waitingFor,
    waitingSince: at,
    createdAt: at,
    updatedAt: at,
  });
}

function compliance(outgoing: ComplianceMode, incoming: ComplianceMode) {
  return {
    outgoing: { rule: outgoing, byCurrency: {} },
    incoming: { rule: 'none' as const, byCurrency: { GBP: incoming } },
  };
}

const facts = { availableMinor: 250n, compliance: compliance('external', 'external') };

function incoming(waitingFor: IncomingTransferWait) {
  return newIncomingTransfer({
    ...shared,
    id: asId('incoming'),
    accountId: asId('receiver'),
    status: 'on-hold',
    scope: 'external',
    provider: 'bank',
    waitingFor,
    waitingSince: at,
    createdAt: at,
    updatedAt: at,
  });
}

test.each(OUTGOING_TRANSFER_WAITS)('an outgoing transfer that waits for %s says what would release it', (wait) => {
  const found = waitOfOutgoingTransfer(outgoing(wait), facts);
  expect(found).toMatchObject({ for: wait, since: at, until: null, rule: null });
  expect(found?.releasedBy).toEqual([expect.stringMatching(/^[A-Z].{15,}\.$/)]);
});

test('a transfer without its balance names what is missing; one that waits for nothing has no wait', () => {
  const short = waitOfOutgoingTransfer(outgoing('balance'), facts);
  expect(short?.releasedBy).toEqual(['A credit of 7.5 GBP to the account source.']);
  const covered = waitOfOutgoingTransfer(outgoing('balance'), { ...facts, availableMinor: 1_000n });
  expect(covered?.releasedBy).toEqual([expect.stringMatching(/^Nothing more/)]);
  expect(waitOfOutgoingTransfer(outgoing(null), facts)).toBeNull();
});

test.each(INCOMING_TRANSFER_WAITS)(
  'an incoming transfer that waits for %s says what would release it',
  (waitingFor) => {
    const found = waitOfIncomingTransfer(incoming(waitingFor), facts);
    expect(found).toMatchObject({ for: waitingFor, since: at });
    for (const release of found?.releasedBy ?? ['']) expect(release).toMatch(/^[A-Z].{15,}\.$/);
  },
);

describe('a transfer in review names the call that decides it, by the rule of its direction and currency', () => {
  const call = (side: string) => [`A decision of compliance: PATCH /${side}-transfers/${side}/compliance-check.`];
  const command = (side: string) => [
    `A decision of compliance, by the operator’s command: fas compliance decide ${side}-transfer ${side} RESULT.`,
  ];

  test.each([
    ['external', 'built-in', call('outgoing'), command('incoming')],
    ['built-in', 'external', command('outgoing'), call('incoming')],
    ['none', 'none', command('outgoing'), command('incoming')],
  ] as const)('outgoing %s, incoming %s', (out, into, ofPayer, ofReceiver) => {
    const rules = { availableMinor: 0n, compliance: compliance(out, into) };
    const transfer = outgoing('compliance');
    expect(waitOfOutgoingTransfer(transfer, rules)?.releasedBy).toEqual(ofPayer);
    const processing = {
      ...transfer,
      status: 'processing',
      incomingTransferId: asId<IncomingTransferId>('incoming'),
    } as const;
    expect(waitOfOutgoingTransfer(processing, rules)?.releasedBy).toEqual(ofReceiver);
    expect(waitOfIncomingTransfer(incoming('compliance'), rules)?.releasedBy).toEqual(ofReceiver);
  });
});

test('the rule of a wait is the one that stopped the waiting side', () => {
  const transfer = { ...outgoing('compliance'), complianceRule: { name: 'large', kind: 'amount' } } as const;
  expect(waitOfOutgoingTransfer(transfer, facts)?.rule).toBe('large');
  expect(waitOfOutgoingTransfer({ ...transfer, status: 'processing' }, facts)?.rule).toBeNull();
});

test('money held for its account waits for the account, its client and its main account', () => {
  const [first] = waitOfIncomingTransfer(incoming('account'), facts)?.releasedBy ?? [];
  expect(first).toBe('The status active for the account receiver, with its client and main account.');
});
