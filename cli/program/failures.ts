import { DomainError } from '../../domain/common/errors.ts';
import { describeFailure } from '../common/actionable-error.ts';
import { CommandFailure, EXIT_STATUSES, type ExitReason, type ExitStatus } from './exit-statuses.ts';

/** A failure as `--json` prints it on standard error. */
export interface ShownFailure {
  readonly reason: ExitReason;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function failureOf(error: unknown): ShownFailure {
  if (error instanceof CommandFailure) return shown(error.reason, error.message, error.details);
  // The service gives a reason for its rejections; any other error means that the command could not run.
  if (error instanceof DomainError) {
    const { code, problems } = error;
    return shown('rejected', problems[0].message, { code });
  }
  if (error instanceof Error && error.name === 'AbortError') return shown('interrupted', 'Interrupted.', {});
  return shown('unknown', describeFailure(error), {});
}

function shown(reason: ExitReason, message: string, details: ShownFailure['details']): ShownFailure {
  return { reason, message: withoutSecrets(message), details };
}

/** Prints the failure, and returns its exit status. */
export function printFailure(
  { reason, message, details }: ShownFailure,
  errors: { write(text: string): unknown },
  isJson: boolean,
): ExitStatus {
  const { status } = EXIT_STATUSES[reason];
  const json = () => withoutSecrets(JSON.stringify({ error: { ...details, reason, status, message } }));
  errors.write(`${isJson ? json() : message}\n`);
  return status;
}

/**
 * What a message of a library or of the other side may quote: credentials in addresses, tokens, private keys, secrets of webhooks.
 * Our own messages have none; this is the second lock.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s"]*@/gi, '$1…@'],
  [/\bBearer\s+[A-Za-z0-9._~+/=-]+/gi, 'Bearer …'],
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, '…'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)/gs, '…'],
  [/("(?:d|p|q|dp|dq|qi|k|\w*secret|\w*password|\w*token)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, '$1"…"'],
  // Forms: of sign-up, and of an exchange of a code.
  [/((?:^|&)(?:\w*password|code|client_assertion)=)[^&\s]+/gi, '$1…'],
  [/\bwhsec_[A-Za-z0-9+/=_-]+/g, 'whsec_…'],
];

export function withoutSecrets(text: string): string {
  return SECRETS.reduce((cleaned, [secret, shownAs]) => cleaned.replace(secret, shownAs), text);
}
