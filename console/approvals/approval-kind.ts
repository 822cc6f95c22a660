import type { Role } from '../../domain/machine-users/roles.ts';
import type { PageContext } from '../page/page.ts';

/** Something that waits for a second signature. */
export interface Approval {
  readonly what: string;
  /** Its page, where it is signed or rejected. */
  readonly href: string;
  readonly amount: string;
  /** To whom, or for what. */
  readonly to: string;
  readonly madeBy: string;
  readonly since: Date;
  readonly until: Date | null;
  /** The zone of its scheme, if it has one. */
  readonly zone?: string;
  /** What happens at `until`. */
  readonly untilMeans: string;
  /** This person caused it, and so cannot sign it. */
  readonly isYours: boolean;
  readonly signers: readonly Role[];
  readonly sign: string;
  readonly reject: string;
}

/** A kind of thing that two people, or a person and a machine user, must want. A new kind joins by the table in page.tsx. */
export interface ApprovalKind {
  readonly title: string;
  /** All of its kind, also beyond what this page shows. */
  readonly more: string;
  readonly empty: string;
  /** The first `limit`, and whether there are more. */
  read(
    context: PageContext,
    limit: number,
  ): Promise<{ readonly approvals: readonly Approval[]; readonly isMore: boolean }>;
}
