import type { Provider } from '../../activities/providers/port.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Database } from '../../db/query/database.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { TemporalClient } from '../../loops/temporal.ts';

/** What an operator's command does; commands.ts declares what it takes. */
export interface Operation {
  /** Returns the exit status: 0, 1 if the service rejected it or it found something to follow up, or 2 if its outcome is unknown. */
  run(context: OperationContext): Promise<0 | 1 | 2>;
}

export interface OperationContext {
  readonly database: Database;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  /** The operator, for the audit log. */
  readonly initiator: Initiator;
  /** Arguments after the command's name. */
  readonly arguments: readonly string[];
  /** How long to wait for Temporal's or a provider's answer; each command has its own limit. */
  readonly answerTimeoutMs?: number;
  /** Providers to ask, for tests; otherwise those of the configuration. */
  readonly providers?: ReadonlyMap<string, Provider>;
  /** Settings, for tests; otherwise those of the environment. */
  readonly configuration?: Configuration;
  print(line: string): void;
  /** Ends the command with a rejection, if those are no results. */
  readonly reject?: ((message: string, subject: object) => never) | undefined;
  /** Says how far it is, of how much, to a person who waits. */
  readonly progressed?: ((done: number, total?: number) => void) | undefined;
}

interface Rejection {
  readonly message: string;
  readonly isJson: boolean;
  /** What was rejected, for `--json`. */
  readonly subject: object;
}

/** Prints a rejection as a result, and returns exit status 1; `fas` has rejections on standard error instead. */
export function printRejection(
  { print, reject }: Pick<OperationContext, 'print' | 'reject'>,
  { message, isJson, subject }: Rejection,
): 1 {
  reject?.(message, subject);
  print(isJson ? JSON.stringify({ ...subject, rejected: message }) : message);
  return 1;
}

/** As printRejection, with `--json`. Otherwise, and if it is no rejection, rethrows the error. */
export function showRejection(
  context: Pick<OperationContext, 'print' | 'reject'>,
  { error, isJson, subject }: { readonly error: unknown; readonly isJson: boolean; readonly subject: object },
): 1 {
  if (!(error instanceof DomainError) || !isJson) throw error;
  return printRejection(context, { message: error.problems[0].message, isJson, subject });
}
