import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { DatabaseUnavailable, LockTimeout } from '../../db/postgres/failures.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { SubmissionsClosed } from './submissions.ts';

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps activities so that workflow histories contain only the name of a failure: messages of databases and providers
 * can quote user input, and more people can read histories than the database. The log has the details.
 */
export function redactFailures<Activities extends Readonly<Record<string, Activity>>>(
  activities: Activities,
  logger: Logger,
): Activities {
  const entries = Object.entries(activities).map(([name, activity]) => [name, guarded(name, activity, logger)]);
  return Object.fromEntries(entries) as Activities;
}

function guarded(name: string, activity: Activity, logger: Logger): Activity {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      const { workflowExecution, attempt } = Context.current().info;
      logger.warn(
        {
          activity: name,
          workflowId: workflowExecution?.workflowId,
          attempt,
          reason: failureName(error),
          ...(isFault(error) ? { stack: error.stack } : {}),
          ...(error instanceof SubmissionsClosed ? { closed: error.message } : {}),
        },
        'activity failed',
      );
      const reason = failureName(error);
      // Submissions may be closed for hours: the pause of the workflow replaces a retry every few seconds for each waiting payment.
      const nonRetryable = error instanceof SubmissionsClosed;
      const failure = ApplicationFailure.create({ type: reason, message: reason, nonRetryable });
      // The stack would be the same few SDK lines in every history.
      failure.stack = '';
      throw failure;
    }
  };
}

/** A programming error: its message quotes code, never user input. */
function isFault(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

/** The name of a failure, for places where its message must not appear. */
export function failureName(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) return error.name;
  return error instanceof Error ? error.name : 'UnknownError';
}
