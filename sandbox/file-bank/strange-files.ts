import { randomUUID } from 'node:crypto';
import type { Bank } from '../bank/bank.ts';
import { writeStatusReport } from './messages/status-report.ts';

/** Files that a bank should not send, and sends. */
export const STRANGE_FILES = ['garbage', 'half', 'unknown-payment'] as const;

/** A file that no payment of the customer's is behind. */
export function strangeFile(bank: Bank, kind: (typeof STRANGE_FILES)[number]): { name: string; content: string } {
  const messageId = `SBX${randomUUID().replaceAll('-', '').slice(0, 20).toUpperCase()}`;
  const name = `pain.002-${messageId}.xml`;
  if (kind === 'garbage') return { name, content: 'Dear customer, our systems are being serviced.\n' };
  const place = {
    customer: '',
    fileId: '',
    messageId: 'NEVER-SENT',
    version: 'pain.001.001.09',
    batchId: 'NEVER-SENT-1',
    instructionId: 'NEVER-SENT-1-1',
    endToEndId: 'NEVER-SENT-1-1',
  };
  const content = writeStatusReport({
    messageId,
    createdAt: bank.now(),
    file: { messageId: place.messageId, version: place.version, count: '1', controlSum: null },
    rejection: null,
    isWhole: true,
    payments: [{ kind: 'status', place, status: 'ACSC', reasons: [], additional: null, bankReference: null }],
  });
  return { name, content: kind === 'half' ? content.slice(0, content.length / 2) : content };
}
