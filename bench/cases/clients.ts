import type { Bench } from '../bench.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { type Contender, compare, type Measurement } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import type { Served } from '../stage.ts';

const CLIENT_COUNT = 10_000;
const CALLERS = 16;
const CREATION_LIMIT_SECONDS = 300;
const PAGE_SIZE = 10;
/** Near the end of the list, or the last full page if a filter leaves fewer rows. */
const DEEP_PAGE = 900;

const PREPARED_COUNT = 1_000;
const NAMES = ['Ada', 'Grace', 'Zoë', 'Søren', '美玲', 'Наталья', 'Ibrahim', 'Maria', 'Emmanuel', 'Jürgen'];
const COUNTRIES = ['GB', 'GB', 'GB', 'DE', 'FR'];

/** f. Creates ten thousand clients through the interface, every other one with relations, then reads first and deep pages by filter. */
export async function benchClients(bench: Bench): Promise<Measurement[]> {
  const { api } = await bench.stage.secondApi('bench_clients');
  bench.say(`f. creating ${CLIENT_COUNT} clients …`);
  const measurements = [await createClients(bench, api)];
  const { seconds, rounds } = bench.options;
  const run = { callers: bench.callers, counts: [1], seconds: seconds / 2, rounds };
  for (const [name, query] of Object.entries(FILTERS)) {
    bench.say(`f. clients, ${name} …`);
    const deep = await deepPage(bench, api, query);
    const pages = [0, deep].map((page) => list(bench, api, query, page));
    measurements.push(...(await compare(`clients, ${name}`, pages, run)));
  }
  return measurements;
}

const FILTERS: Readonly<Record<string, string>> = {
  'no filter': '',
  'by status': 'data.client.status=active',
  'by country (3 of 5)': 'data.client.country=GB',
  'by type (every other one)': 'data.client.identityType=corporate',
  'by part of the name': 'data.client.fullName=ar',
  'by e-mail (1 of 1,000)': 'data.client.email=bench-7@example.com',
};

async function createClients(bench: Bench, api: Served): Promise<Measurement> {
  const { load, processIds } = contender(
    bench,
    api,
    'service',
    'POST',
    Array.from({ length: PREPARED_COUNT }, newClient),
  );
  const beforeMs = processorTimeMs(processIds);
  const extent = { callers: CALLERS, seconds: CREATION_LIMIT_SECONDS, count: CLIENT_COUNT };
  const { count, elapsedMs, p50Ms, p99Ms } = await bench.callers.run({ ...load, ...extent });
  if (count < CLIENT_COUNT) throw new Error(`only ${count} clients were made in time`);
  return {
    case: 'clients, created with relations',
    contender: 'service',
    callers: CALLERS,
    perSecond: count / (elapsedMs / 1000),
    p50Ms,
    p99Ms,
    processorMs: (processorTimeMs(processIds) - beforeMs) / count,
  };
}

function newClient(_: unknown, number: number): PreparedRequest {
  const names = { givenName: pick(NAMES, number), familyName: `Bench ${number}` };
  const country = pick(COUNTRIES, number);
  const address = { country, city: 'London', street: 'Bench Street' };
  const email = `bench-${number}@example.com`;
  const individual = {
    identity: { type: 'individual', ...names, birthDate: '1990-12-10', country },
    profile: { identityType: 'individual', residentialAddress: address, email },
  };
  const corporate = {
    identity: { type: 'corporate', legalName: `${names.givenName} Bench ${number} Ltd`, country },
    profile: { identityType: 'corporate', registrationAddress: address, email },
    relations: (['director', 'shareholder', 'authorized-person'] as const).map((relation) => ({
      relation,
      identity: { type: 'individual', ...names },
      profile: { identityType: 'individual', residentialAddress: address },
    })),
  };
  const client = number % 2 === 0 ? corporate : individual;
  return { path: '/clients', body: JSON.stringify({ workflow: { code: 'direct' }, data: { client } }) };
}

function pick<Value>(values: readonly Value[], number: number): Value {
  const value = values[number % values.length];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

function path(query: string, page: number): string {
  return `/clients?${query}&metadata.page.size=${PAGE_SIZE}&metadata.page.number=${page}`;
}

async function deepPage(bench: Bench, api: Served, query: string): Promise<number> {
  const headers = { authorization: `Bearer ${bench.stage.token}` };
  const response = await fetch(`${api.origin}${path(query, 0)}`, { headers });
  const { metadata } = (await response.json()) as { metadata: { page: { totalElements: number } } };
  return Math.min(DEEP_PAGE, Math.max(1, Math.floor(metadata.page.totalElements / PAGE_SIZE) - 1));
}

function list(bench: Bench, api: Served, query: string, page: number): Contender {
  return contender(bench, api, page === 0 ? 'page 0' : `page ${page}`, 'GET', [{ path: path(query, page) }]);
}

function contender(
  bench: Bench,
  api: Served,
  name: string,
  method: 'GET' | 'POST',
  requests: readonly PreparedRequest[],
): Contender {
  const headers = { authorization: `Bearer ${bench.stage.token}`, 'content-type': 'application/json' };
  return {
    name,
    processIds: [api.process.pid, bench.stage.postgres.process.pid],
    load: { origin: api.origin, method, headers, idempotent: method === 'POST', requests },
  };
}
