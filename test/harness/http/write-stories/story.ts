import { expect } from 'vitest';
import type { Method } from '../../../../api/http/route.ts';
import { ROUTES } from '../../../../api/routes.ts';
import type { Role } from '../../../../domain/machine-users/roles.ts';
import { type ApiResponse, findRoute, type Json, type TestApi } from '../../api.ts';
import { normalised } from './normalised.ts';

/** A sequence of writes of one caller. Nothing in it depends on what other callers do at the same time. */
export type Story = (caller: StoryCaller) => Promise<void>;

export interface WriteOptions {
  /** The workflow; `direct` unless given. */
  readonly code?: string;
  /** Fields in addition to the code. */
  readonly workflow?: Json;
  readonly connect?: Json;
  readonly as?: Role;
  /** The status of the expected rejection. Without it anything but a success fails the story. */
  readonly rejected?: number;
  /** The Idempotency-Key of an earlier POST; one of its own unless given. */
  readonly key?: string;
}

export interface StoryCaller {
  readonly api: TestApi;
  /** Part of every value that must differ between two runs. */
  readonly name: string;
  /** The `data` of the answer. */
  post(path: string, data: Json, asked?: WriteOptions): Promise<Json>;
  patch(path: string, data: Json, asked?: WriteOptions): Promise<Json>;
  remove(path: string, asked?: WriteOptions): Promise<Json>;
  /** The key of the last POST. */
  lastKey(): string;
  /** A value that differs between two runs appears as its label. */
  conceal(value: string, label: string): string;
  /** The id of a resource that no answer shows as its own: its records become part of the transcript too. */
  follow(id: string): string;
}

/** A POST that was processed. */
export interface Processed {
  readonly path: string;
  readonly body: Json;
  readonly as: Role;
  readonly key: string;
  readonly status: number;
  readonly text: string;
}

/** A write, by its route and workflow. */
export interface StoryWrite {
  readonly route: string;
  readonly requestId: string;
}

export interface StoryRun {
  readonly name: string;
  /** All answers and what was recorded, comparable with those of another run. */
  readonly transcript: Json;
  readonly processed: readonly Processed[];
  /** The writes that succeeded. */
  readonly writes: readonly StoryWrite[];
}

interface StoryRecord {
  readonly steps: Json[];
  readonly processed: Processed[];
  readonly writes: StoryWrite[];
  readonly concealed: Map<string, string>;
  readonly followed: string[];
}

/** Runs a story under a name of its own: lower-case letters, digits and hyphens. */
export async function runStory(api: TestApi, name: string, story: Story): Promise<StoryRun> {
  const concealed = new Map([[name, '<name>']]);
  const record: StoryRecord = { steps: [], processed: [], writes: [], followed: [], concealed };
  await story(callerOf(api, name, record));
  const { steps, processed, writes, followed } = record;
  for (const [role, { id }] of Object.entries(api.users)) concealed.set(id, `<${role}>`);
  const ids = new Set([...idsIn(steps.map(({ answer }) => answer)), ...followed]);
  const recorded = await recordedOf(api, ids);
  return { name, transcript: normalised({ steps, ...recorded }, concealed), processed, writes };
}

function callerOf(api: TestApi, name: string, record: StoryRecord): StoryCaller {
  let key = '';
  const write = async (method: Method, path: string, body: Json, asked: WriteOptions): Promise<Json> => {
    const { as = 'operator', rejected } = asked;
    const requestId = `${name}-${record.steps.length}`;
    if (method === 'POST') key = asked.key ?? requestId;
    const options = { as, headers: { 'request-id': requestId }, ...(method === 'POST' ? { key } : {}) };
    const called = await api.call(method, path, body, options);
    const { status, text } = called;
    const what = `${name}: ${method} ${path} was answered with ${status} ${text}`;
    if (rejected === undefined) expect(status, what).toBeLessThan(300);
    else expect(status, what).toBe(rejected);
    record.steps.push({ request: `${method} ${path}`, ...shownAnswer(called) });
    if (rejected === undefined) {
      record.writes.push({ route: routeOf(method, path, body), requestId });
      if (method === 'POST') record.processed.push({ path, body, as, key, status, text });
    }
    return called.body?.data;
  };
  const bodyOf = (data: Json, { code = 'direct', workflow, connect }: WriteOptions) => ({
    workflow: { code, ...workflow },
    data,
    ...(connect === undefined ? {} : { connect }),
  });
  return {
    api,
    name,
    post: (path, data, asked = {}) => write('POST', path, bodyOf(data, asked), asked),
    patch: (path, data, asked = {}) => write('PATCH', path, bodyOf(data, asked), asked),
    remove: (path, asked = {}) => write('DELETE', path, undefined, asked),
    lastKey: () => key,
    conceal: (value, label) => {
      record.concealed.set(value, `<${label}>`);
      return value;
    },
    follow: (id) => {
      record.followed.push(id);
      return id;
    },
  };
}

function shownAnswer({ status, body, headers }: ApiResponse): Json {
  return { status, idempotency: headers.get('x-idempotency-status'), answer: body };
}

/** `POST /accounts client.issuing`. */
function routeOf(method: Method, path: string, body: Json): string {
  const route = findRoute(ROUTES, method, path);
  if (route === undefined) throw new Error(`no route serves ${method} ${path}`);
  const name = `${method} ${route.contract.path}`;
  return body === undefined ? name : `${name} ${body.workflow.code}`;
}

/** The ids of everything that is shown, in the order of appearance. */
function idsIn(value: Json, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) idsIn(item, found);
  else if (typeof value === 'object' && value !== null) {
    if (typeof value.id === 'string') found.add(value.id);
    for (const item of Object.values(value)) idsIn(item, found);
  }
  return found;
}

/** What the service has recorded of the resources: audit entries by its interface, events and wake-ups as they are stored. */
async function recordedOf(api: TestApi, ids: ReadonlySet<string>): Promise<Json> {
  const audit = await Promise.all([...ids].map((id) => auditEntriesOf(api, id)));
  const { reader } = api.database;
  const events = await reader.statement<Json>(
    `SELECT module, resource_id AS "resourceId", first_sequence::integer AS "firstSequence",
       entry_count::integer AS "entryCount", occurred_at::text AS "occurredAt", entries
     FROM events JOIN unnest($1::uuid[]) WITH ORDINALITY AS story (id, place) ON story.id = resource_id
     ORDER BY place, first_sequence`,
    [[...ids]],
  );
  const wakeUps = await reader.statement<Json>(
    `SELECT workflow_id AS "workflowId", workflow_type AS "workflowType", generation::integer
     FROM workflow_wakeups JOIN unnest($1::text[]) WITH ORDINALITY AS story (id, place)
       ON split_part(workflow_id, '/', 2) = story.id
     ORDER BY place`,
    [[...ids]],
  );
  return { audit: audit.flat(), events, wakeUps, rows: await rowsOf(api, ids) };
}

/** The rows of the resources as they are stored, by table. */
async function rowsOf({ database: { reader } }: TestApi, ids: ReadonlySet<string>): Promise<Json[]> {
  const tables = await reader.statement<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND column_name = 'id' AND data_type = 'uuid'
       AND table_name NOT IN ('events', 'audit_entries', 'list_changes') ORDER BY 1`,
    [],
  );
  const selections = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, id, to_jsonb(stored) AS row FROM ${name} AS stored WHERE id = ANY ($1::uuid[])`,
  );
  return reader.statement<Json>(
    `SELECT name, row FROM (${selections.join(' UNION ALL ')}) AS stored
     JOIN unnest($1::uuid[]) WITH ORDINALITY AS story (id, place) USING (id) ORDER BY place, name`,
    [[...ids]],
  );
}

async function auditEntriesOf(api: TestApi, id: string): Promise<Json[]> {
  const path = `/audit-entries?metadata.page.size=100&data.auditEntry.resourceId=${id}`;
  const { status, body, text } = await api.call('GET', path, undefined, { as: 'admin' });
  expect(status, text).toBe(200);
  return body.data.auditEntries;
}
