import type { CheckedType } from '../../../db/compliance/checks.ts';
import { type Closure, closureInWords } from '../../../db/providers/submissions.ts';
import { waitInWords } from '../../../domain/common/waits.ts';
import { linesOfBreak, type OpenBreak } from './breaks.ts';
import { operate } from './commands.ts';

/** A sentence, and what to do about it by a command: for who has a shell. */
export interface Advised {
  readonly text: string;
  /** Follows the text. */
  readonly advice: string;
}

export function withAdvice(said: string | Advised): string {
  return typeof said === 'string' ? said : `${said.text}${said.advice}`;
}

export function withoutAdvice(said: string | Advised): string {
  return typeof said === 'string' ? said : said.text;
}

/** Why a resource is where it is. Times are ISO instants, as `--json` prints them. */
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
    /** What `until` is, and what happens then. */
    readonly untilMeans: string | null;
  } | null;
  /** What keeps it from continuing although it could. */
  readonly obstacles: readonly (string | Advised)[];
  /** What would release it: commands and calls, ready to be used. */
  readonly releasedBy: readonly string[];
  /** What was tried so far, with the outcome. */
  readonly attempts: readonly string[];
  /** For a payment whose first submission has no known outcome: since when it is due. Its workflow shows whether one was begun. */
  readonly firstSubmissionSince?: Date;
  /** Where returned money is, or whom it belongs to. */
  readonly money?: readonly string[];
  /** The id of its workflow; null if it needs none now. */
  readonly workflowId: string | null;
}

/** The state of a workflow in Temporal. */
export interface WorkflowState {
  readonly state: 'running' | 'not-running' | 'not-needed' | 'unknown';
  readonly text: string | Advised;
  /** Temporal has never had one, or no longer knows it. */
  readonly isAbsent?: boolean;
  /** Since when the first task of its only run waits for a worker; null if a worker may have taken any. */
  readonly unstartedSince?: Date | null;
}

/** What `why` prints: an explanation with its open breaks and the state of its workflow. */
export type Explained = Omit<Explanation, 'firstSubmissionSince' | 'money'> & {
  /** Its number or name, and its amount. */
  readonly what: string;
  readonly money: readonly string[];
  readonly breaks: readonly OpenBreak[];
};

/** The command has RESULT to fill in: pasted unchanged, it decides nothing. */
export function decision(type: CheckedType, id: string): string {
  return `${operate(`decide ${type} ${id} RESULT`)}; RESULT is a decision of compliance, not of operations`;
}

export function closedSubmissions(closure: Closure): Advised {
  const command = closure.restoreBeganAt === null ? 'submissions open --reason TEXT' : 'after-restore --since INSTANT';
  return { text: `${closureInWords(closure)}.`, advice: ` What ends it: ${operate(command)}.` };
}

/** The explanation as lines of text, each once. */
export function linesOf(explanation: Explained, workflow: WorkflowState): string[] {
  const { resource, id, what, status, wait, obstacles, releasedBy, attempts, money, breaks } = explanation;
  const nothing = breaks.length === 0 ? 'It waits for nothing.' : NOTHING_BUT_A_PERSON;
  const lines = [
    `${resource} ${id} (${what}) is ${status}.`,
    wait === null ? nothing : `It waits for ${waitInWords(wait)}.`,
    ...(wait?.untilMeans == null ? [] : [wait.untilMeans]),
    ...money.map((line) => `Its money: ${line}`),
    ...breaks.flatMap(linesOfBreak),
    ...obstacles.map((obstacle) => `In its way: ${withAdvice(obstacle)}`),
    ...releasedBy.map((release) => `To release it: ${release}`),
    ...attempts.map((attempt) => `So far: ${attempt}`),
    `Workflow: ${withAdvice(workflow.text)}`,
  ];
  return [...new Set(lines)];
}

const NOTHING_BUT_A_PERSON = 'It waits only for a person to look into its open break.';
