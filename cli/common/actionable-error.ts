/** A failure that the reader can fix: its one-line message names the cause and what to do. */
export class ActionableError extends Error {
  override readonly name = 'ActionableError';
}

/** The operating system's code of an error (`EADDRINUSE`, `ENOSPC`, …), if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One line for people: known system failures with what to do about them, others with their own message. */
export function describeFailure(error: unknown): string {
  if (error instanceof ActionableError) return error.message;
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? ` (${error.path})` : '';
  switch (systemErrorCode(error)) {
    case 'ENOSPC':
      return `The disk is full${path}. Free some space, or set DATA_DIR to a folder on another disk, and start again.`;
    case 'EACCES':
    case 'EPERM':
      return `Permission denied${path}. Give this user the folder, or set DATA_DIR to one that it owns.`;
    case 'EROFS':
      return `The file system is read-only${path}. Set DATA_DIR to a folder that can be written.`;
    default:
      return errorMessage(error).split('\n')[0] ?? 'Unknown failure';
  }
}
