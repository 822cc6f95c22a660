import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../api/app.ts';
import { ERROR_STATUS } from '../../api/http/errors.ts';
import { route } from '../../api/http/route.ts';
import { fields, picklist } from '../../api/http/schemas/schemas.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import { ERROR_EXPLANATIONS } from '../../domain/common/error-explanations.ts';
import { ERROR_CODES, rejection } from '../../domain/common/errors.ts';
import { escaped } from '../../domain/common/texts/html.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { nextHead, socketTo } from '../harness/faults/sockets.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** Rejects each request with the code in its path. */
const rejects = route(
  {
    method: 'GET',
    path: '/rejections/{code}',
    operationId: 'getRejection',
    summary: 'A rejection',
    tag: 'System',
    params: { code: picklist(ERROR_CODES) },
    response: fields({}),
    examples: { response: {} },
  },
  async ({ params: { code } }) => {
    throw rejection(code, ['test', 'field', ''], ERROR_EXPLANATIONS[code].example);
  },
);

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('error-pages');
  api = await startApi(database, { routes: [rejects] });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const linkTo = (code: string) => `</docs/errors/${code}>; rel="help"; type="text/html"`;

describe.each(ERROR_CODES)('an answer with %s', (code) => {
  test('leads to a page that says what happened and what to do', async () => {
    const { status, body, headers } = await api.call('GET', `/rejections/${code}`);
    expect([status, body.code]).toEqual([ERROR_STATUS[code], code]);
    expect(headers.get('link')).toBe(linkTo(code));
    const page = await api.call('GET', `/docs/errors/${code}`, undefined, { as: null });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(`<h1>${code}</h1>`);
    const text = plain(page.text);
    const { example, happened, whatToDo } = ERROR_EXPLANATIONS[code];
    for (const part of [String(status), example, happened, whatToDo]) expect(text).toContain(plain(escaped(part)));
  });
});

/** Without tags, and the marks that become tags. */
function plain(html: string): string {
  return html.replace(/<[^>]*>|`/g, '');
}

test('the explanations are sentences, and no two codes share one', () => {
  const texts = Object.values(ERROR_EXPLANATIONS).flatMap(({ happened, whatToDo }) => [happened, whatToDo]);
  expect(texts.filter((text) => !/^[A-Z`].*\.$/.test(text))).toEqual([]);
  expect(new Set(texts).size).toBe(texts.length);
});

test('rejections before any route lead to their pages too: an unknown path, another method, no HTTP, no address', async () => {
  const unknown = await api.call('GET', '/nowhere');
  expect([unknown.status, unknown.headers.get('link')]).toEqual([
    404,
    linkTo('common.coding.internal.record_not_found'),
  ]);
  const method = await api.call('DELETE', '/clients');
  expect([method.status, method.headers.get('link')]).toEqual([405, linkTo('common.validation.field_invalid')]);
  for (const text of ['nonsense\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n']) {
    const socket = await socketTo(api.url);
    socket.write(text);
    const head = await nextHead(socket);
    socket.destroy();
    expect(head).toContain('HTTP/1.1 400');
    expect(head?.toLowerCase()).toContain(`\r\nlink: ${linkTo('common.validation.field_invalid')}`);
  }
});

test('the token endpoint, whose errors have another format, names no page', async () => {
  const { status, body, headers } = await api.call('POST', '/open-banking/GB/token', 'nonsense', {
    as: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body.code).toBeUndefined();
  expect(headers.get('link')).toBeNull();
});

test('the list leads to every page, and no other code has one', async () => {
  const { text } = await api.call('GET', '/docs/errors', undefined, { as: null });
  const linked = [...text.matchAll(/href="\/docs\/errors\/([^"]+)"/g)].map(([, code]) => code);
  expect(linked).toEqual([...ERROR_CODES]);
  const unknown = await api.call('GET', '/docs/errors/common.unknown', undefined, { as: null });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
});

test('the pages load and run nothing', async () => {
  for (const path of ['/docs/errors', `/docs/errors/${ERROR_CODES[0]}`]) {
    const { headers, text } = await api.call('GET', path, undefined, { as: null });
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<script|<img|style=|\son\w+=/);
  }
});

test('the document names the header at every rejection', () => {
  const { paths, components } = documentOf(ROUTES, VERSION);
  const operations = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
  const responses: unknown[] = [
    ...operations.flatMap((operation) => Object.values(operation.responses)),
    ...Object.values(components.responses ?? {}),
  ];
  const rejections = responses.filter((response) => JSON.stringify(response).includes('schemas/Error"'));
  expect(rejections.length).toBeGreaterThan(20);
  for (const response of rejections)
    expect(response).toMatchObject({ headers: { Link: { $ref: '#/components/headers/ErrorPage' } } });
});
