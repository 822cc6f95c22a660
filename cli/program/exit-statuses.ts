/** Every exit status of `fas`, with what it means: scripts rely on them, so that a change of one is a breaking change. */
export const EXIT_STATUSES = {
  succeeded: { status: 0, meaning: 'It is done.' },
  rejected: {
    status: 1,
    meaning: 'The service rejected it, with its reason, or a person must look at what was found.',
  },
  unknown: {
    status: 2,
    meaning: 'It could not run, or its outcome is not known: no answer, or a fault of the service.',
  },
  usage: { status: 3, meaning: 'The command, an option or a value is not one that it takes. Nothing was done.' },
  unconfirmed: {
    status: 4,
    meaning: 'It wants `--confirm`, as it is dangerous and the world is live. Nothing was done.',
  },
  unauthorized: { status: 5, meaning: 'No profile or key can be used, or the service does not accept them.' },
  interrupted: { status: 130, meaning: 'Ctrl-C ended it.' },
  unread: { status: 141, meaning: 'Its output was no longer read, as after `head`: what it found is not known.' },
} as const;

export type ExitReason = keyof typeof EXIT_STATUSES;

export type ExitStatus = (typeof EXIT_STATUSES)[ExitReason]['status'];

/** A failure whose exit status is decided where it is found; its message names the cause and what to do. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly reason: ExitReason;
  /** Further fields of the error under `--json`, such as the service's code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(reason: ExitReason, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.details = details;
  }
}
