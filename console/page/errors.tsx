import type { Context } from 'hono';
import { DatabaseUnavailable, LockTimeout } from '../../db/postgres/failures.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { SignedInPerson } from '../http/person.ts';
import { Document } from '../look/document.tsx';

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500 | 503;

/** A page for what cannot be shown, in plain words: what happened, whether anything was changed, what to do. */
export async function errorPage(
  c: Context,
  person: SignedInPerson | null,
  { status, title, text }: { readonly status: ErrorStatus; readonly title: string; readonly text: string },
): Promise<Response> {
  return c.html(
    <Document title={title} person={person}>
      <p role="alert">{text}</p>
      <p>
        <a href="/">To the first page</a>
      </p>
    </Document>,
    status,
  );
}

export function notFound(c: Context, person: SignedInPerson | null): Promise<Response> {
  return errorPage(c, person, {
    status: 404,
    title: 'There is nothing here',
    text: 'No page has this address, or what it showed does not exist. Search for it by id, number or reference.',
  });
}

export function denied(c: Context, person: SignedInPerson, needed: readonly string[]): Promise<Response> {
  return errorPage(c, person, {
    status: 403,
    title: 'Not for your role',
    text: `This needs the role ${needed.join(' or ')}; you have ${person.roles.join(', ')}. Nothing was changed.`,
  });
}

/** For a page that could not be read. A remedy says itself what became of it. */
export function failed(c: Context, person: SignedInPerson | null, error: unknown): Promise<Response> {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) {
    return errorPage(c, person, {
      status: 503,
      title: 'The database does not answer',
      text: 'Nothing can be shown at the moment, and nothing was changed by this page. Reload it in a minute.',
    });
  }
  if (error instanceof DomainError) {
    return errorPage(c, person, { status: 422, title: 'That cannot be shown', text: error.problems[0].message });
  }
  return errorPage(c, person, {
    status: 500,
    title: 'The console has a fault',
    text: 'The fault is in the log. What you wanted to do may not have happened: look at the page of the resource.',
  });
}
