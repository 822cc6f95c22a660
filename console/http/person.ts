import type { ConsoleSessionId, PersonId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';

/** Who is signed in, in which session. Instants are of real time, never of the sandbox's clock. */
export interface SignedInPerson {
  readonly id: PersonId;
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly Role[];
  readonly sessionId: ConsoleSessionId;
  /** Every form of the session sends it. */
  readonly csrfToken: string;
  /** When the person last proved who they are. */
  readonly signedInAt: Date;
}
