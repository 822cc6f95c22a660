import type { Context } from 'hono';
import type { Initiator } from '../../db/common/audit-entries.ts';
import { leaveNotice } from '../../db/people/notices.ts';
import { DatabaseUnavailable, LockTimeout } from '../../db/postgres/failures.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { Document } from '../look/document.tsx';
import { sectionOf } from '../look/sections.ts';
import { denied, errorPage, notFound } from '../page/errors.tsx';
import { hasRole, type PageContext } from '../page/page.ts';
import { REASON_RULE, readReason } from './reason.ts';
import type { Outcome, Preview, Remedy, RemedyInput } from './remedy.ts';
import { askedAddressOf, offReason, pageBehind, RemedyForm } from './remedy-pages.tsx';

const MINUTE_MS = 60_000;

/** GET of a remedy's address: what would happen. */
export async function showRemedy(c: Context, remedy: Remedy, context: PageContext): Promise<Response> {
  const rejected = await guard(c, remedy, context);
  if (rejected !== null) return rejected;
  const preview = await remedy.preview(context);
  if (preview === null) return notFound(c, context.person);
  return formPage(c, { remedy, preview, context, problem: null, given: {} });
}

/** POST: does it, says what came of it on the page of the resource, or shows the form again with what is wrong. */
export async function doRemedy(c: Context, remedy: Remedy, context: PageContext): Promise<Response> {
  const rejected = await guard(c, remedy, context);
  if (rejected !== null) return rejected;
  const preview = await remedy.preview(context);
  if (preview === null) return notFound(c, context.person);
  const { input, reason, given, problem } = await readInput(c, remedy, preview);
  if (problem !== null || reason === null) {
    return formPage(c, { remedy, preview, context, problem: problem ?? REASON_RULE, given }, 422);
  }
  const { person } = context;
  const role = remedy.roles.find((allowed) => person.roles.includes(allowed));
  const initiator: Initiator = {
    actor: person.id,
    // Of the interface's requests only: what a browser sends under this name is no one's word.
    requestId: null,
    reason,
    ...(role === undefined ? {} : { role }),
  };
  const resource = pageBehind(remedy, context);
  try {
    const outcome = await remedy.act(context, input, initiator);
    return await leadOn(c, context, outcome, outcome.goTo ?? resource);
  } catch (error) {
    if (error instanceof DomainError) {
      // As it is now: another person may have been faster.
      const present = (await remedy.preview(context)) ?? preview;
      const { unavailable: _, ...shown } = present;
      return formPage(c, { remedy, preview: shown, context, problem: error.problems[0].message, given }, 409);
    }
    if (error instanceof LockTimeout) return busy(c, context);
    if (error instanceof DatabaseUnavailable) return unknown(c, context, error, resource);
    throw error;
  }
}

/** To the page that shows the new state, and says what was done. If the database fails between, this page says it. */
async function leadOn(c: Context, context: PageContext, { state, text }: Outcome, to: string): Promise<Response> {
  const { person, services } = context;
  const { pathname } = new URL(to, services.settings.url);
  try {
    await leaveNotice(services.database.reader, person.sessionId, pathname, { state, text });
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof LockTimeout)) throw error;
    return outcomePage(c, context, { state, text }, to);
  }
  return c.redirect(to, 303);
}

async function outcomePage(
  c: Context,
  { person }: PageContext,
  notice: Pick<Outcome, 'state' | 'text'>,
  to: string,
): Promise<Response> {
  return c.html(
    <Document title="What was done" person={person} notice={notice}>
      <p>
        The database does not answer now. <a href={to}>Look at the new state</a> in a minute.
      </p>
    </Document>,
  );
}

/** Role, setting and recent sign-in; null if the person may go on. */
async function guard(c: Context, remedy: Remedy, context: PageContext): Promise<Response | null> {
  const { person, services } = context;
  if (!hasRole(person, remedy.roles)) return denied(c, person, remedy.roles);
  const off = offReason(remedy, context);
  if (off !== null) return errorPage(c, person, { status: 403, title: `${remedy.label} is turned off`, text: off });
  const { recentSignInMinutes } = services.settings;
  const sinceMs = services.now().getTime() - person.signedInAt.getTime();
  if (!remedy.movesMoney || sinceMs <= recentSignInMinutes * MINUTE_MS) return null;
  const back = encodeURIComponent(askedAddressOf(remedy, context));
  return c.redirect(`/sign-in/again?return_to=${back}`, 303);
}

interface Form {
  readonly remedy: Remedy;
  readonly preview: Preview;
  readonly context: PageContext;
  readonly problem: string | null;
  readonly given: Readonly<Record<string, string>>;
}

async function formPage(c: Context, form: Form, status: 200 | 409 | 422 = 200): Promise<Response> {
  return c.html(
    <Document title={form.preview.title} person={form.context.person} section={sectionOf(form.remedy.page)}>
      <RemedyForm {...form} />
    </Document>,
    status,
  );
}

function busy(c: Context, { person }: PageContext): Promise<Response> {
  return errorPage(c, person, {
    status: 503,
    title: 'Somebody else is at work on it',
    text: 'Nothing was changed. Look at it again in a moment.',
  });
}

function unknown(
  c: Context,
  { person }: PageContext,
  { outcome }: DatabaseUnavailable,
  resource: string,
): Promise<Response> {
  const text =
    outcome === 'unknown'
      ? `The database did not answer in time, so it is not known whether this was done. Look at ${resource} before you do anything again.`
      : 'The database does not answer. Nothing was changed.';
  return errorPage(c, person, { status: 503, title: outcome === 'unknown' ? 'Not yet known' : 'Not done', text });
}

interface Sent {
  readonly input: RemedyInput;
  readonly reason: string | null;
  readonly given: Readonly<Record<string, string>>;
  readonly problem: string | null;
}

const TEXT_LENGTH_MAX = 10_000;

async function readInput(c: Context, remedy: Remedy, preview: Preview): Promise<Sent> {
  const body = await c.req.parseBody();
  const fields: Record<string, string> = {};
  const files: Record<string, Uint8Array> = {};
  const problems: string[] = [];
  for (const { name, label, kind, isOptional, choices } of [...(remedy.fields ?? []), ...(preview.fields ?? [])]) {
    const value = body[name];
    if (value instanceof File) {
      if (kind === 'file' && value.size > 0) files[name] = new Uint8Array(await value.arrayBuffer());
    } else if (typeof value === 'string') fields[name] = value.trim().slice(0, TEXT_LENGTH_MAX);
    const isThere = files[name] !== undefined || (fields[name] ?? '') !== '';
    if (!isThere && isOptional !== true) problems.push(`${label} is required.`);
    if (isThere && kind === 'choice' && !(choices ?? []).some(([choice]) => choice === fields[name])) {
      problems.push(`${label} is not one of the choices.`);
    }
  }
  const sentReason = typeof body.reason === 'string' ? body.reason : '';
  return {
    input: { fields, files },
    reason: readReason(sentReason),
    given: { ...fields, reason: sentReason.slice(0, TEXT_LENGTH_MAX) },
    problem: problems[0] ?? null,
  };
}
