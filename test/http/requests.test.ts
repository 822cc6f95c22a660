import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../harness/api.ts';
import { dummyRoutes } from '../harness/http/dummy-routes.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('api-requests');
  api = await startApi(database, { routes: dummyRoutes });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const WORKFLOW = { code: 'direct' };

function thing(fields: Record<string, unknown> = {}) {
  return { workflow: WORKFLOW, data: { thing: { amount: 1, currency: 'EUR', ...fields } } };
}

/** A body whose amount is exactly these characters. */
function withAmount(digits: string, currency = 'EUR'): string {
  return `{"workflow":{"code":"direct"},"data":{"thing":{"amount":${digits},"currency":"${currency}"}}}`;
}

describe('the envelope', () => {
  test('a write echoes workflow and connect as sent, and carries all four containers', async () => {
    const body = { ...thing({ name: 'a' }), workflow: { code: 'direct', dryRun: null }, connect: { type: 'implicit' } };
    const { status, body: answer, headers } = await api.call('POST', '/things', body);
    expect(status).toBe(201);
    expect(Object.keys(answer)).toEqual(['workflow', 'data', 'connect', 'metadata']);
    expect(answer.workflow).toEqual({ code: 'direct', dryRun: null });
    expect(answer.connect).toEqual({ type: 'implicit' });
    expect(headers.get('content-type')).toContain('application/json');
  });

  test('a read answers an empty workflow and the page', async () => {
    const { body } = await api.call('GET', '/things?metadata.page.number=2&metadata.page.size=10');
    expect(body.workflow).toEqual({});
    expect(body.connect).toEqual({});
    expect(body.metadata.page).toEqual({ size: 10, number: 2, totalElements: 21, totalPages: 3 });
  });

  test('each workflow code has fields of its own, and another code is rejected by name', async () => {
    const migration = { workflow: { code: 'migration' }, data: { sourceId: 'abc' }, connect: { type: 'explicit' } };
    expect((await api.call('POST', '/things', migration)).body.data.thing.name).toBe('abc');
    const other = await api.call('POST', '/things', { ...thing(), workflow: { code: 'constructor' } });
    expect(other.status).toBe(400);
    expect(other.body.code).toBe('common.workflow.unknown_code');
    expect(other.body.messageParameters).toEqual(['workflow', 'code', 'constructor']);
  });

  test('every problem of a body is reported at once, the first as the error', async () => {
    const { status, body } = await api.call('POST', '/things', {
      workflow: { code: 'direct', dryRun: 'yes', extra: 1 },
      data: { thing: { id: 'x', amount: 'ten', currency: 'EUR', dueDate: '2026-02-31', status: 'new' }, other: {} },
      surplus: {},
    });
    expect(status).toBe(400);
    const reported = [body, ...body.errors].map((problem) => [
      problem.code.split('.')[2],
      ...problem.messageParameters,
    ]);
    expect(reported).toEqual(
      expect.arrayContaining([
        ['field_unexpected', 'body', 'surplus', '{…}'],
        ['field_invalid', 'workflow', 'dryRun', 'yes'],
        ['field_unexpected', 'workflow', 'extra', '1'],
        ['field_invalid', 'thing', 'amount', 'ten'],
        ['field_invalid', 'thing', 'dueDate', '2026-02-31'],
        ['field_unexpected', 'thing', 'id', 'x'],
        ['field_unexpected', 'thing', 'status', 'new'],
        ['field_unexpected', 'data', 'other', '{…}'],
      ]),
    );
    expect(reported).toHaveLength(8);
  });

  test('missing containers and fields are named', async () => {
    const required = async (body: unknown) => {
      const answer = await api.call('POST', '/things', body);
      expect(answer.status).toBe(400);
      const problems = [answer.body, ...(answer.body.errors ?? [])];
      for (const problem of problems) expect(problem.code).toBe('common.validation.field_required');
      return problems.map((problem) => problem.messageParameters.slice(0, 2).join('.'));
    };
    expect(await required({})).toEqual(['body.workflow', 'body.data']);
    expect(await required({ workflow: WORKFLOW })).toEqual(['body.data']);
    expect(await required({ workflow: {}, data: {} })).toEqual(['workflow.code']);
    expect(await required({ workflow: WORKFLOW, data: {} })).toEqual(['data.thing']);
    expect(await required({ workflow: WORKFLOW, data: { thing: {} } })).toEqual(['thing.amount', 'thing.currency']);
    expect(await required({ workflow: WORKFLOW, data: { thing: { amount: null, currency: 'EUR' } } })).toEqual([
      'thing.amount',
    ]);
  });

  test('unknown metadata is ignored, in a body and in a query', async () => {
    expect((await api.call('POST', '/things', { ...thing(), metadata: { whatever: 1 } })).status).toBe(201);
    expect((await api.call('GET', '/things?metadata.whatever=1')).status).toBe(200);
  });

  test('on POST null is absent; on PATCH it clears an optional field and is rejected on another', async () => {
    expect((await api.call('POST', '/things', thing({ name: null, tags: null }))).status).toBe(201);
    const path = '/things/0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11';
    const cleared = await api.call('PATCH', path, { workflow: WORKFLOW, data: { thing: { note: null } } });
    expect(cleared.body.data.given).toEqual(['note']);
    const rejected = await api.call('PATCH', path, { workflow: WORKFLOW, data: { thing: { name: null } } });
    expect(rejected.status).toBe(400);
    expect(rejected.body.messageParameters).toEqual(['thing', 'name', '']);
  });

  test('/v1 is the same API', async () => {
    expect((await api.call('GET', '/v1/things')).body.metadata.page.totalElements).toBe(21);
    expect((await api.call('GET', '/v1')).status).toBe(404);
  });

  test('deprecated routes and includes say so, with a Sunset only where there is one', async () => {
    const route = await api.call('GET', '/things');
    expect(route.headers.get('deprecation')).toBe('@1685577600');
    expect(route.headers.get('link')).toBe('</docs>; rel="deprecation"; type="text/html"');
    expect(route.headers.get('sunset')).toBeNull();
    const include = await api.call('GET', '/things?metadata.include=connect.connection');
    expect(include.headers.get('sunset')).toBe('Fri, 31 May 2024 00:00:00 GMT');
    expect(include.headers.get('link')).toContain('rel="deprecation"');
    expect((await api.call('POST', '/things', thing())).headers.get('link')).toBeNull();
    expect(include.body.connect).toEqual({ connection: { id: 'x' } });
  });
});

describe('amounts are validated by their digits', () => {
  test.each([
    '1e309',
    '1e21',
    '"10"',
    '-0',
    '0',
    '0.00',
    '-5',
    '0.001',
    '1000000000000000',
    '9007199254740993',
    'true',
    '{}',
    '[1]',
  ])('%s EUR is rejected, naming field and value', async (digits) => {
    const { status, body } = await api.call('POST', '/things', withAmount(digits));
    expect(status).toBe(400);
    expect(body.code).toBe('common.validation.field_invalid');
    expect(body.messageParameters.slice(0, 2)).toEqual(['thing', 'amount']);
    expect(body.errors).toBeUndefined();
  });

  test.each([
    ['0.1', 'JPY'],
    ['0.0001', 'KWD'],
    ['0.00001', 'CLF'],
  ])('%s %s has too many decimals', async (digits, currency) => {
    expect((await api.call('POST', '/things', withAmount(digits, currency))).status).toBe(400);
  });

  test.each([
    ['9999999999999.99', 'EUR', '9999999999999.99'],
    ['999999999999999', 'JPY', '999999999999999'],
    ['0.001', 'KWD', '0.001'],
    ['10.500', 'EUR', '10.5'],
    ['1e2', 'EUR', '100'],
  ])('%s %s is stored and shown as %s', async (digits, currency, shown) => {
    const { status, text } = await api.call('POST', '/things', withAmount(digits, currency));
    expect(status).toBe(201);
    expect(text).toContain(`"amount":${shown},`);
  });

  test('a wrong amount is reported along with the other problems of its object', async () => {
    const body = '{"workflow":{"code":"direct"},"data":{"thing":{"amount":0.001,"currency":"EUR","more":1}}}';
    const answer = await api.call('POST', '/things', body);
    const named = [answer.body, ...answer.body.errors].map((problem) => problem.messageParameters[1]);
    expect(named.sort()).toEqual(['amount', 'more']);
  });
});

describe('text', () => {
  test.each([
    ['NUL', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['a bidirectional override', 'a\u202eb'],
    ['a bidirectional isolate', 'a\u2066b'],
    ['a heap of marks', `a${'\u0301'.repeat(30)}`],
    ['a blank', '   '],
    ['a megabyte', 'x'.repeat(900_000)],
  ])('%s is rejected, naming the field', async (_, name) => {
    const { status, body } = await api.call('POST', '/things', thing({ name }));
    expect(status).toBe(400);
    expect(body.messageParameters.slice(0, 2)).toEqual(['thing', 'name']);
    expect(body.messageParameters[2].length).toBeLessThanOrEqual(100);
  });

  test.each([
    'José Ångström',
    'Đặng Thị Ngọc',
    '王小明',
    'محمد بن سلمان',
    'שׁלוֹם',
    'สมชาย ใจดี',
    'می‌خواهم',
    'O’Neil & Söhne',
  ])('%s is kept as sent', async (name) => {
    const { status, body } = await api.call('POST', '/things', thing({ name }));
    expect(status).toBe(201);
    expect(body.data.thing.name).toBe(name.normalize('NFC'));
  });

  test('letters that only look like a code are rejected', async () => {
    const { status, body } = await api.call('POST', '/things', thing({ currency: 'ＥＵＲ' }));
    expect(status).toBe(400);
    expect(body.messageParameters.slice(0, 2)).toEqual(['thing', 'currency']);
  });

  test('forbidden characters are rejected in keys, connect and metadata too', async () => {
    for (const body of [
      { ...thing(), connect: { 'a\u0000': 1 } },
      { ...thing(), connect: { type: 'a\u0000' } },
      { ...thing(), metadata: { a: '\ud800' } },
    ]) {
      expect((await api.call('POST', '/things', body)).status).toBe(400);
    }
  });
});

describe('malformed bodies', () => {
  test.each([
    ['no JSON', '{"workflow":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['a number', '1'],
    ['a key twice with other values', withAmount('1,"amount":2')],
    ['a key twice with the same value', withAmount('1,"amount":1')],
    ['a key twice, escaped', withAmount('1,"\\u0061mount":1')],
    ['__proto__', '{"workflow":{"code":"direct"},"data":{"thing":{"amount":1,"currency":"EUR"},"__proto__":{"a":1}}}'],
    ['prototype', '{"workflow":{"code":"direct"},"data":{"prototype":1}}'],
    ['constructor', '{"workflow":{"code":"direct"},"data":{"constructor":{"prototype":{}}}}'],
    ['5,000 levels', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['5,000 levels of objects', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
    ['100,000 keys', `{${Array.from({ length: 100_000 }, (_, index) => `"${index}":1`).join(',')}}`],
    ['half a million brackets', '['.repeat(500_000)],
    ['a number without an end', withAmount('1'.repeat(100_000))],
    ['NaN', withAmount('NaN')],
    ['a leading zero', withAmount('01')],
  ])('%s is 400', async (_, body) => {
    const answer = await api.call('POST', '/things', body, { headers: { 'content-type': 'application/json' } });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toMatch(/^common\.validation\./);
  });

  test.each([
    ['other values', withAmount('1,"amount":2')],
    ['the same value', withAmount('1,"amount":1')],
    ['the same value, escaped', withAmount('1,"\\u0061mount":1')],
    ['the same value, after text that looks like it', withAmount('1,"name":"{\\"amount\\":","amount":1')],
  ])('a key twice with %s is named', async (_, body) => {
    const { body: problem } = await api.call('POST', '/things', body);
    expect(problem.message).toBe('The body has the key amount twice in one object.');
    expect(problem.messageParameters).toEqual(['body', 'amount', '']);
  });

  test('bytes that are not UTF-8 are 400', async () => {
    const response = await fetch(`${api.url}/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  test.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'application/jsonp' }],
    [{ 'content-type': '' }],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('%j is 415', async (headers) => {
    const answer = await api.call('POST', '/things', thing(), { headers });
    expect(answer.status).toBe(415);
  });

  test('a charset with the media type makes no difference', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=UTF-8' };
    expect((await api.call('POST', '/things', thing(), { headers })).status).toBe(201);
  });
});

describe('queries and paging', () => {
  test.each([
    'metadata.page.size=1000000000',
    'metadata.page.size=0',
    'metadata.page.size=101',
    'metadata.page.size=-1',
    'metadata.page.size=1.5',
    'metadata.page.size=10;',
    'metadata.page.size=',
    'metadata.page.size=1e1',
    'metadata.page.number=-1',
    'metadata.page.number=1.5',
    'metadata.page.size=10&metadata.page.size=10',
    'data.thing.status=new&data.thing.status=new',
    'data.thing.status=other',
    'data.thing.status=',
    'data.thing.from=2026-02-30',
    'data.thing.unknown=1',
    'unknown=1',
    '__proto__=1',
    'data.thing.status[]=new',
  ])('%s is 400 in the error shape', async (query) => {
    const { status, body } = await api.call('GET', `/things?${query}`);
    expect(status).toBe(400);
    expect(body.code).toMatch(/^common\.validation\.field_(invalid|unexpected)$/);
  });

  test('an unknown parameter is named', async () => {
    const { body } = await api.call('GET', '/things?data.thing.colour=red&nonsense=1');
    expect(body.code).toBe('common.validation.field_unexpected');
    expect(body.messageParameters).toEqual(['thing', 'colour', 'red']);
    expect(body.errors[0].messageParameters).toEqual(['query', 'nonsense', '1']);
  });

  test('include takes commas and repetition, echoes what it knows and ignores the rest', async () => {
    const once = await api.call('GET', '/things?metadata.include=data.thing.extra,other');
    expect(once.body.metadata.include).toEqual(['data.thing.extra']);
    const twice = await api.call(
      'GET',
      '/things?metadata.include=data.thing.extra&metadata.include=connect.connection',
    );
    expect(twice.body.metadata.include).toEqual(['data.thing.extra', 'connect.connection']);
  });

  test('the last page that fits is answered', async () => {
    expect((await api.call('GET', '/things?metadata.page.number=9999&metadata.page.size=100')).status).toBe(200);
  });

  test.each(['10000', '9999999', '1000000000000'])(
    'page %s is too deep, of whatever size: it is rejected by its own rule',
    async (number) => {
      for (const size of [1, 100]) {
        const path = `/things?metadata.page.number=${number}&metadata.page.size=${size}`;
        const { status, body } = await api.call('GET', path);
        expect([status, body.code]).toEqual([400, 'common.validation.limit_exceeded']);
        expect(body.messageParameters).toEqual(['metadata', 'page.number', number]);
      }
    },
  );
});

describe('paths, methods and ids', () => {
  test('an unknown path is 404 and a known one with another method 405 with Allow, both in the error shape', async () => {
    const unknown = await api.call('GET', '/nowhere');
    expect(unknown.status).toBe(404);
    expect(unknown.body.code).toBe('common.coding.internal.record_not_found');
    const method = await api.call('DELETE', '/things');
    expect(method.status).toBe(405);
    expect(method.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST']);
    expect((await fetch(`${api.url}/things`, { method: 'OPTIONS' })).status).toBe(405);
  });

  test('a malformed id in a path is 400, naming it; in capitals it is the same id', async () => {
    const { status, body } = await api.call('GET', '/machine-users/17', undefined, { as: 'admin' });
    expect(status).toBe(400);
    expect(body.messageParameters).toEqual(['path', 'machineUserId', '17']);
    const own = api.users.viewer.id;
    const found = await api.call('GET', `/machine-users/${own.toUpperCase()}`, undefined, { as: 'admin' });
    expect(found.body.data.machineUser.id).toBe(own);
  });

  test('an unknown id is 404 record_not_found with entity, field and value', async () => {
    const id = '00000000-0000-7000-8000-000000000000';
    const { status, body } = await api.call('GET', `/machine-users/${id}`, undefined, { as: 'admin' });
    expect(status).toBe(404);
    expect(body.code).toBe('common.coding.internal.record_not_found');
    expect(body.messageParameters).toEqual(['machineUser', 'id', id]);
  });

  test('paths with encoded NUL, dots and broken escapes never fail', async () => {
    for (const id of ['%00', '%', '..%2f..', '%ff%fe', '%E0%A4%A', 'a'.repeat(5_000)]) {
      const { status } = await api.call('GET', `/machine-users/${id}`, undefined, { as: 'admin' });
      expect([400, 404]).toContain(status);
    }
  });
});

describe('request ids and faults', () => {
  test("the caller's own Request-Id comes back if it is harmless, else a new one", async () => {
    const own = await api.call('GET', '/things', undefined, { headers: { 'request-id': 'abc-123_X' } });
    expect(own.headers.get('request-id')).toBe('abc-123_X');
    for (const bad of ['a b', 'x'.repeat(65), '<script>']) {
      const { headers } = await api.call('GET', '/nowhere', undefined, { headers: { 'request-id': bad } });
      expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('a fault of ours is 500 with nothing internal in it', async () => {
    const { status, text, body } = await api.call('GET', '/faults');
    expect(status).toBe(500);
    expect(body.code).toBe('common.internal.error');
    expect(text).not.toMatch(/canary|Error:|\.ts/);
  });
});
