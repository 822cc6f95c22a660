import { userInfo } from 'node:os';
import type { Initiator } from '../../db/common/audit-entries.ts';

/** Who runs this command, for the audit log: the operating system's user. */
export function commandInitiator(): Initiator {
  return { actor: operatingSystemUser(), requestId: null };
}

function operatingSystemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user id may have no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
