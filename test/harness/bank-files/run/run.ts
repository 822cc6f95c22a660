import { type CrashRunOptions, type CrashRunResult, crashRun } from '../../faults/crash-run.ts';
import { KINDS_WITH_LOOPS } from '../../servers/service-process.ts';
import { type Link, linkedDetours } from '../../servers/whole-service.ts';
import { fileBankFaults } from './faults.ts';
import { fileBankOfRun, prepareFileBank } from './file-bank.ts';

export interface FileRunOptions
  extends Pick<
    CrashRunOptions,
    | 'seed'
    | 'payments'
    | 'loadMsMax'
    | 'watchEveryMs'
    | 'callers'
    | 'thinkMs'
    | 'everything'
    | 'settleMs'
    | 'temporalAwayMs'
    | 'say'
  > {
  readonly killsEach: number;
  /** Faults of the SFTP connection and of the bank behind it. */
  readonly fileFaults: number;
  readonly betweenMs: { readonly minimum: number; readonly maximum: number };
}

/** Mostly payments out, by themselves and in batches. */
const DEEDS = { internal: 6, external: 20, payIn: 12, cancel: 4 };
const MORE_DEEDS = { adjustment: 2, batches: 30, migrations: 1, closing: 4, reviews: 6, back: 16 };

/** The crash run with a bank that is paid through by files, over a connection that can be cut, and with the loops in a process of their own. */
export function fileRun({ killsEach, fileFaults, betweenMs, ...options }: FileRunOptions): Promise<CrashRunResult> {
  const links: Link[] = [];
  const half = Math.ceil(killsEach / 2);
  return crashRun({
    ...options,
    deeds: options.everything ? { ...DEEDS, ...MORE_DEEDS } : DEEDS,
    pounds: 200_000,
    externalShare: 0.9,
    openMax: 500,
    links,
    service: {
      detours: linkedDetours(links),
      loopsApart: true,
      prepare: (sandbox) => prepareFileBank(sandbox, links),
    },
    further: fileBankOfRun(),
    plan: {
      killsEach,
      kinds: KINDS_WITH_LOOPS,
      sessions: killsEach,
      pauses: half,
      receiverOutages: half,
      bankFaults: half,
      links: half,
      further: { count: fileFaults, inflict: fileBankFaults() },
      betweenMs,
    },
  });
}
