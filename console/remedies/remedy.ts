import type { AuditedResource, Initiator } from '../../db/common/audit-entries.ts';
import type { Transaction } from '../../db/query/database.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { ConsoleServices } from '../http/services.ts';
import type { PageContext } from '../page/page.ts';

/** A field that a remedy asks for, besides the reason. */
export interface RemedyField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly kind: 'text' | 'choice' | 'file' | 'long-text' | 'date-time';
  /** For a choice: values with their labels. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly isOptional?: boolean;
  /** What the form holds at first. */
  readonly initial?: string;
}

/** What a remedy will do to one resource. */
export interface Preview {
  /** `Fail payment 20261126-ABC123` */
  readonly title: string;
  /** Plain sentences, with numbers: shown before anything is done. */
  readonly consequences: readonly string[];
  /** Why it cannot be done now; the button is off and says so. */
  readonly unavailable?: string;
  /** Fields whose choices depend on the resource. */
  readonly fields?: readonly RemedyField[];
}

export interface Outcome {
  /** `unknown`: asked for, and what came of it is not known yet. The page never shows the old state as if it were the new. */
  readonly state: 'done' | 'unchanged' | 'unknown';
  /** One sentence. */
  readonly text: string;
  /** Where to go on; the page of the resource if it is not said. */
  readonly goTo?: string;
}

/** What an act on one resource of a list may use: nothing outside of its transaction. */
export interface ItemContext {
  readonly tx: Transaction;
  readonly services: Pick<ConsoleServices, 'configuration' | 'providers'>;
}

/** What the person has sent: the fields by name, each checked to be a line of text; files as bytes. */
export interface RemedyInput {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/**
 * Something that a person may do about a resource. It acts by a transition of db/ that API and `operate` use too, and has no rules of
 * its own. The frame checks role, session, origin, recent sign-in and reason before `act`, and hands over who does it and why, which
 * the transition writes to the audit log.
 */
export interface Remedy {
  /** Its name in the address and in the setting that turns it off; one of its kind in the whole console. */
  readonly kind: string;
  readonly label: string;
  readonly resource: AuditedResource;
  /** The page of the resource; the remedy's own address is `${page}/${kind}`. */
  readonly page: string;
  readonly roles: readonly Role[];
  /** Asks for a recent sign-in. */
  readonly movesMoney: boolean;
  readonly isDangerous?: boolean;
  readonly fields?: readonly RemedyField[];
  /** Null: there is no such resource. */
  preview(context: PageContext): Promise<Preview | null>;
  /** Throws DomainError if it is rejected; may run twice, so it goes by a guarded transition. */
  act(context: PageContext, input: RemedyInput, initiator: Initiator): Promise<Outcome>;
  /**
   * For lists: acts on one resource of a signed list, all in the given transaction, which also keeps the result: so each is done once.
   * Without it, the remedy is for single resources only. It must reject what the single act rejects.
   */
  readonly forEach?: (item: ItemContext, id: string, initiator: Initiator) => Promise<Outcome>;
}
