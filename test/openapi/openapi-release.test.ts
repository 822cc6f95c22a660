import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../api/app.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import type { Json } from '../harness/api.ts';
import { oasdiff } from '../tools/oasdiff.ts';

// The OpenAPI document passes a linter, and breaks no client of the last release: `npm run openapi:release` keeps a
// release's document.

const DOCUMENTS = fileURLToPath(new URL('../../docs/openapi/', import.meta.url));
const REDOCLY = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

const present: Json = documentOf(ROUTES, VERSION);
const released: Json = JSON.parse(readFileSync(join(DOCUMENTS, 'released.json'), 'utf8'));

let directory: string;
let program: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'openapi-'));
  program = await oasdiff();
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, document: Json): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(document));
  return path;
}

/** What the linter says against a document. */
function lint(document: Json): string[] {
  const config = join(DOCUMENTS, 'redocly.yaml');
  const { status, stdout } = spawnSync(
    process.execPath,
    [REDOCLY, 'lint', file('linted.json', document), '--config', config, '--format', 'json'],
    {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  const problems = JSON.parse(stdout).problems.map(({ ruleId, message }: Json) => `${ruleId}: ${message}`);
  expect(status).toBe(problems.length === 0 ? 0 : 1);
  return problems;
}

/**
 * The document with each webhook as the answer of an operation: what we send may gain a field like an answer, while the gate
 * takes it for a request, which may not.
 */
function withWebhooksAsAnswers({ webhooks = {}, ...document }: Json): Json {
  const paths = Object.entries<Json>(webhooks).map(([name, { post }]) => {
    const { content } = post.requestBody;
    const { operationId } = post;
    return [`/${name}`, { get: { operationId, responses: { 200: { description: 'Received', content } } } }];
  });
  return { ...document, paths: { ...document.paths, ...Object.fromEntries(paths) } };
}

/** What breaks a client of the first document that calls the second, or a receiver of the webhooks of the first. */
function breaks(before: Json, after: Json): string[] {
  const { status, stdout, stderr } = spawnSync(
    program,
    [
      'breaking',
      file('before.json', withWebhooksAsAnswers(before)),
      file('after.json', withWebhooksAsAnswers(after)),
      ...['--severity-levels', join(DOCUMENTS, 'severities.txt')],
      // A warning is a break here: what the service does not know, it rejects.
      ...['--fail-on', 'WARN', '--format', 'json'],
    ],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const found = stdout.trim() === '' ? [] : JSON.parse(stdout);
  const changes: Json[] = (Array.isArray(found) ? found : found.changes).filter(({ level }: Json) => level > 1);
  expect(status).toBe(changes.length === 0 ? 0 : 1);
  return changes.map(({ id, operation, path, text }) => `${id}: ${operation} ${path}: ${text}`);
}

/** Everything that the changes below touch: the gate takes seconds to compare two whole documents. */
const part: Json = {
  ...present,
  paths: only(present.paths, ['/accounts', '/clients', '/outgoing-transfers', '/provisioned-account-credits']),
  webhooks: only(present.webhooks, ['clients.created', 'incoming-transfers.incoming-transfer-completed']),
};

function only(all: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** A document with one change. */
function changed(before: Json, change: (schemas: Json, paths: Json, webhooks: Json) => void): Json {
  const document = structuredClone(before);
  change(document.components.schemas, document.paths, document.webhooks);
  return document;
}

describe('the linter', () => {
  test('finds nothing in the document', () => {
    expect(lint(present)).toEqual([]);
  });

  test('finds a component that nothing refers to', () => {
    expect(lint(changed(present, (schemas) => Object.assign(schemas, { Stranger: { type: 'string' } })))).toEqual([
      expect.stringContaining('no-unused-components'),
    ]);
  });
});

test('no change since the last release breaks its clients', () => {
  expect(breaks(released, present)).toEqual([]);
});

test.each<[name: string, id: string, change: (schemas: Json, paths: Json, webhooks: Json) => void]>([
  ['a removed operation', 'api-removed-without-deprecation', (_, paths) => delete paths['/clients'].get],
  [
    'another operationId',
    'api-operation-id-removed',
    (_, { '/clients': { get } }) => (get.operationId = 'findClients'),
  ],
  ['a removed field of an answer', 'response-required-property-removed', ({ Account }) => rename(Account, 'iban')],
  [
    'a renamed field of an answer',
    'response-required-property-removed',
    ({ Account }) => rename(Account, 'iban', 'ibn'),
  ],
  [
    'a field that an answer may leave out',
    'response-property-became-optional',
    ({ Account }) => Account.required.pop(),
  ],
  [
    'a new required field of a request',
    'new-required-request-property',
    ({ AccountInput: { properties, required } }) => {
      properties.branch = { type: 'string' };
      required.push('branch');
    },
  ],
  [
    'a removed field of a request',
    'request-property-removed',
    ({ AccountInput }) => delete AccountInput.properties.alias,
  ],
  [
    'a value that a request may not have any more',
    'request-property-enum-value-removed',
    ({ ConnectMethod }) => ConnectMethod.enum.pop(),
  ],
  [
    'a removed workflow code',
    'request-body-one-of-removed',
    ({ CreateClientRequest }) => CreateClientRequest.oneOf.pop(),
  ],
  [
    'a choice of requests without the one there was',
    'request-body-wrapped-in-one-of',
    (schemas) => {
      const { CreateClientDirectRequest: other, CreateProvisionedAccountCreditRequest: only } = schemas;
      schemas.OtherRequest = { ...only, required: [...only.required, 'metadata'] };
      schemas.CreateProvisionedAccountCreditRequest = { oneOf: [{ $ref: '#/components/schemas/OtherRequest' }, other] };
    },
  ],
  [
    'another type in an answer',
    'response-property-type-changed',
    ({ Account }) => (Account.properties.availableBalance = { type: 'string' }),
  ],
  [
    'another type in a request',
    'request-property-type-changed',
    ({ OutgoingTransferInput: { properties } }) => (properties.amount = { type: 'string' }),
  ],
  [
    'a shorter text in a request',
    'request-property-max-length-decreased',
    ({ AccountInput: { properties } }) => (properties.alias.anyOf[0].maxLength = 2),
  ],
  ['a removed query parameter', 'request-parameter-removed', (_, { '/accounts': { get } }) => get.parameters.shift()],
  [
    'a removed status of success',
    'response-success-status-removed',
    (_, { '/accounts': { post } }) => delete post.responses[201],
  ],
  [
    'a removed status of rejection',
    'response-non-success-status-removed',
    (_, { '/accounts': { post } }) => delete post.responses[409],
  ],
  [
    'a removed webhook',
    'api-path-removed-without-deprecation',
    (_, __, webhooks) => delete webhooks['clients.created'],
  ],
  [
    'a date that a completed transfer may leave out',
    'response-property-became-optional',
    ({ CompletedIncomingTransfer }) => (CompletedIncomingTransfer.required = ['status']),
  ],
])('%s is a break', (_, id, change) => {
  const found = breaks(part, changed(part, change));
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((one) => !one.startsWith(`${id}: `))).toEqual([]);
});

test.each<[name: string, change: (schemas: Json, paths: Json, webhooks: Json) => void]>([
  [
    'a new operation',
    (_, paths) => (paths['/strangers'] = { get: { ...paths['/clients'].get, operationId: 'listStrangers' } }),
  ],
  [
    'a new optional field of a request',
    ({ AccountInput }) => (AccountInput.properties.branch = { type: ['string', 'null'] }),
  ],
  [
    'a new field of an answer',
    ({ Account: { properties, required } }) => {
      properties.branch = { type: 'string' };
      required.push('branch');
    },
  ],
  [
    'a new optional query parameter',
    (_, { '/accounts': { get } }) => get.parameters.push({ name: 'x', in: 'query', schema: { type: 'string' } }),
  ],
  [
    'a new webhook',
    (_, __, webhooks) =>
      (webhooks['clients.renamed'] = { post: { ...webhooks['clients.created'].post, operationId: 'x' } }),
  ],
  [
    'a longer text in an answer and its filter',
    ({ Account }, { '/accounts': { get } }) => {
      Account.properties.accountHolderName.maxLength += 1;
      for (const { schema } of get.parameters) if (schema?.maxLength !== undefined) schema.maxLength += 1;
    },
  ],
  ['a new value in requests and answers', ({ AccountStatus }) => AccountStatus.enum.push('frozen')],
  ['a new error code', ({ ErrorCode }) => ErrorCode.enum.push('account.branch.closed')],
])('%s is none', (_, change) => {
  expect(breaks(part, changed(part, change))).toEqual([]);
});

/** Renames a required field, or removes it. */
function rename({ properties, required }: Json, from: string, to?: string): void {
  const { [from]: field } = properties;
  delete properties[from];
  required.splice(required.indexOf(from), 1, ...(to === undefined ? [] : [to]));
  if (to !== undefined) properties[to] = field;
}
