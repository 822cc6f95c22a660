import type { CheckedType } from '../../../db/compliance/checks.ts';
import { type Closure, closureInWords } from '../../../db/providers/submissions.ts';
import { waitInWords } from '../../../domain/frame/waits.ts';
import { linesOfBreak, type OpenBreak } from './breaks.ts';
import { operate } from './commands.ts';

/** Why a resource is where it is. Times are ISO instants, so that `--json` prints it as it stands. */
export interface Explanation {
  readonly resource: string;
  readonly id: string;
  readonly status: string;
  /** Null if nothing is waited for. */
  readonly wait: {
    readonly for: string;
    readonly since: string | null;
    readonly until: string | null;
    /** The rule that stopped a transfer in review. */
    readonly rule: string | null;
    /** What `until` is, and what follows then. */
    readonly untilMeans: string | null;
  } | null;
  /** What keeps it from going on although it could. */
  readonly obstacles: readonly string[];
  /** What would release it: commands and calls, ready to be used. */
  readonly releasedBy: readonly string[];
  /** What was tried so far, with the outcome. */
  readonly attempts: readonly string[];
  /** Of a payment whose first submission has no known outcome: since when it is due. Its workflow says whether one was begun. */
  readonly firstSubmissionSince?: Date;
  /** Where money is that came back, or whose it is. */
  readonly money?: readonly string[];
  /** The id of its workflow; null if it needs none now. */
  readonly workflowId: string | null;
}

/** How a workflow stands in Temporal. */
export interface WorkflowState {
  readonly state: 'running' | 'not-running' | 'not-needed' | 'unknown';
  readonly text: string;
  /** Temporal has never had one, or no longer knows it. */
  readonly isAbsent?: boolean;
  /** Since when the first task of its only run waits for a worker; null if a worker may have taken any. */
  readonly unbegunSince?: Date | null;
}

/** What `why` prints: an explanation, with what it has of breaks and of the workflow. */
export type Explained = Omit<Explanation, 'firstSubmissionSince' | 'money'> & {
  readonly money: readonly string[];
  readonly breaks: readonly OpenBreak[];
};

/** The command has RESULT to fill in: pasted as it stands, it decides nothing. */
export function decision(type: CheckedType, id: string): string {
  return `${operate(`decide ${type} ${id} RESULT`)}; RESULT is a decision of compliance, not of operations`;
}

export function closedSubmissions(closure: Closure): string {
  const command = closure.restoreBeganAt === null ? 'submissions open --reason TEXT' : 'after-restore --since INSTANT';
  return `${closureInWords(closure)}. What ends it: ${operate(command)}.`;
}

/** The explanation as lines of text. */
export function linesOf(explanation: Explained, workflow: WorkflowState): string[] {
  const { resource, id, status, wait, obstacles, releasedBy, attempts, money, breaks } = explanation;
  const nothing = breaks.length === 0 ? 'It waits for nothing.' : NOTHING_BUT_A_PERSON;
  return [
    `${resource} ${id} is ${status}.`,
    wait === null ? nothing : `It waits for ${waitInWords(wait)}.`,
    ...(wait?.untilMeans == null ? [] : [wait.untilMeans]),
    ...money.map((line) => `Its money: ${line}`),
    ...breaks.flatMap(linesOfBreak),
    ...obstacles.map((obstacle) => `In its way: ${obstacle}`),
    ...releasedBy.map((release) => `To release it: ${release}`),
    ...attempts.map((attempt) => `So far: ${attempt}`),
    `Workflow: ${workflow.text}`,
  ];
}

const NOTHING_BUT_A_PERSON = 'It waits for nothing but a person, who looks into its open break.';
