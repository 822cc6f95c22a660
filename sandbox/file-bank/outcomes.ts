/**
 * How the outcomes of sandbox/bank/payments/scenarios.ts reach a customer that is told by files. The same last two digits of the amount
 * choose both.
 */
export interface FileOutcome {
  /** In a few words; docs/sandbox.md is printed from them. */
  readonly shows: string;
  /** `open-untold`: silence while the payment is open; `statement`: only the day's camt.053 tells of it. */
  readonly tells?: 'open-untold' | 'statement';
  readonly statusAfterMs?: number;
  readonly entryAfterMs?: number;
  readonly copies?: number;
  /** The answer to a cancellation that was accepted is never sent. */
  readonly isRecallUntold?: boolean;
  /** What happens at the SFTP server when the file gets its final name. */
  readonly rename?: 'cut' | 'fails-twice';
}

const LATE_MS = 10_000;
const AFTER_ENTRY_MS = 2_000;

export const FILE_OUTCOMES: Readonly<Record<number, FileOutcome>> = {
  1: { shows: 'rejected in pain.002 (`AC03`); nothing is booked' },
  2: { shows: 'accepted (`ACSP`); then camt.054 has its debit and its return (`AC07`)' },
  3: { shows: 'completed (`ACSC`, debit); two seconds later camt.054 has its return (`AC06`)' },
  4: { shows: 'completed, and only camt.053 tells it', tells: 'statement' },
  5: { shows: 'takes effect; its file’s connection is cut at the rename, without an answer', rename: 'cut' },
  6: { shows: 'its file’s rename fails twice, without effect; the third works', rename: 'fails-twice' },
  7: {
    shows: 'completed at once; pain.002 and camt.054 come 10 s later',
    statusAfterMs: LATE_MS,
    entryAfterMs: LATE_MS,
  },
  8: { shows: 'pain.002 and camt.054 tell it twice, in messages of their own', copies: 2 },
  9: {
    shows: 'camt.054 comes first, pain.002 two seconds later',
    tells: 'open-untold',
    statusAfterMs: AFTER_ENTRY_MS,
  },
  10: { shows: 'accepted (`ACSP`); then nothing until a lever moves it' },
  11: { shows: 'the first instruction is rejected (`BE08`); the next, with another `InstrId`, works' },
  12: { shows: 'every instruction is rejected (`BE08`)' },
  13: { shows: 'taken, and no message until a lever moves it', tells: 'open-untold' },
  14: { shows: 'completed; its cancellation is rejected (camt.029, `CUST`)' },
  15: {
    shows: 'completed; its cancellation is accepted without a camt.029: only the return in camt.054 tells it',
    isRecallUntold: true,
  },
  16: { shows: 'completed; returned three days later (`AC06`): move the clock' },
};

export const OTHER_FILE_AMOUNTS: FileOutcome = { shows: 'completed: `ACSC` in pain.002, debit in camt.054' };

export function fileOutcomeOf(amountMinor: bigint): FileOutcome {
  return FILE_OUTCOMES[Number(amountMinor % 100n)] ?? OTHER_FILE_AMOUNTS;
}
