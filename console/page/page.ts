import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { AuditedResource } from '../../db/common/audit-entries.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { SignedInPerson } from '../http/person.ts';
import type { ConsoleServices } from '../http/services.ts';
import type { Privacy } from '../look/privacy.ts';
import type { Section } from '../look/sections.ts';

/** What a page or a remedy knows of the request. */
export interface PageContext {
  readonly services: ConsoleServices;
  readonly person: SignedInPerson;
  /** The names in the path, such as `id`; an id is a UUID in lower case. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The service's time, which a sandbox may have moved: ages and due times are by it. */
  readonly now: Date;
  readonly privacy: Privacy;
  /** Live rows ask for it: only the live parts of the page are looked at. */
  readonly isRefresh: boolean;
}

export interface View {
  readonly title: string;
  readonly body: Child;
}

/** A page: one question and what can be done about it. It reads, and changes nothing. */
export interface Page {
  /** As Hono writes it: `/outgoing-transfers/:id`. */
  readonly path: string;
  readonly section: Section;
  /** Who may open it; everybody who is signed in if it is not said. */
  readonly roles?: readonly Role[];
  /** The resource that it shows: a viewer may have its personal data shown, which is audited under this name and the id of the path. */
  readonly shows?: AuditedResource;
  /** Null: there is no such resource. A response is an export. */
  view(context: PageContext): Promise<View | Response | null>;
}

export function hasRole({ roles }: Pick<SignedInPerson, 'roles'>, allowed: readonly Role[]): boolean {
  return allowed.some((role) => roles.includes(role));
}

/** The address of a path whose names stand for these values: `/accounts/:id` for an account. */
export function addressAt(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** A form that a page posts to, besides the remedies: it changes only what belongs to the person. */
export interface OwnForm {
  readonly path: string;
  submit(c: Context, services: ConsoleServices, person: SignedInPerson): Promise<Response>;
}
