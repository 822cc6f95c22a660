import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNameResolver } from '../../activities/webhooks/name-resolver.ts';
import { createReceivers, type Receivers } from '../../activities/webhooks/receivers.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import type { AttemptError } from '../../domain/webhooks/deliveries.ts';
import {
  ERROR_EXPLANATIONS,
  type Explanation,
  STATUS_EXPLANATIONS,
  UNKNOWN_ERROR_EXPLANATION,
} from '../../domain/webhooks/explanations.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { gate } from '../harness/servers/locks.ts';
import { type NameServer, startNameServer } from '../harness/servers/name-server.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../harness/webhooks/certificates.ts';
import { type FailingReceivers, failingReceivers } from '../harness/webhooks/failing-receivers.ts';
import {
  createDrains,
  insertClient,
  LOOPBACK_POLICY,
  recordEvents,
  sequence,
  subscribe,
} from '../harness/webhooks/webhooks.ts';

/** The delivery log says in plain words why an attempt failed, after attempts at real receivers that fail in each way. */

interface World {
  readonly receivers: FailingReceivers;
  /** The authority that the service trusts, and one that it does not. */
  readonly known: CertificateAuthority;
  readonly unknown: CertificateAuthority;
}

/** Accepts keys and signatures of any strength, as an outdated server does. */
const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' };
const LONG = 'a'.repeat(70_000);

type Failure = readonly [what: string, error: AttemptError, start: (world: World) => Promise<string> | string];

const WITHOUT_ANSWER: readonly Failure[] = [
  ['accepts the connection and never answers', 'timeout', ({ receivers }) => receivers.silent('http')],
  ['never begins the TLS handshake', 'connect_timeout', ({ receivers }) => receivers.silent('https')],
  ['is at an address inside', 'address_rejected', () => 'http://10.0.0.1:8080/hook'],
  ['has a name that resolves to an address inside', 'address_rejected', () => 'http://inside.example.org:8080/hook'],
  ['has a name that does not exist', 'name_not_found', () => 'http://unknown.example.org:8080/hook'],
  ['has name servers that are silent', 'dns_failed', () => 'http://silent.example.org:8080/hook'],
  ['does not listen', 'connection_refused', ({ receivers }) => receivers.absent()],
  [
    'resets the connection',
    'connection_lost',
    ({ receivers }) => receivers.raw('', (socket) => socket.resetAndDestroy()),
  ],
  ['hangs up without an answer', 'connection_lost', ({ receivers }) => receivers.raw('', (socket) => socket.destroy())],
  ['speaks HTTP where TLS is expected', 'tls_failed', ({ receivers }) => receivers.answering(200, 'https')],
  [
    'speaks only TLS 1.1',
    'tls_failed',
    ({ receivers, known }) =>
      receivers.secure({ ...known.issue(), ...WEAK, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }),
  ],
  [
    'has an expired certificate',
    'certificate_expired',
    ({ receivers, known }) => receivers.secure(known.issue({ years: [2019, 2020] })),
  ],
  [
    'has a certificate of the future',
    'certificate_not_yet_valid',
    ({ receivers, known }) => receivers.secure(known.issue({ years: [2090, 2095] })),
  ],
  ['has a self-signed certificate', 'certificate_self_signed', ({ receivers, unknown }) => receivers.secure(unknown)],
  [
    'has a certificate of an unknown authority',
    'certificate_authority_unknown',
    ({ receivers, unknown }) => receivers.secure(unknown.issue()),
  ],
  [
    'has a certificate of an unknown authority and presents that too',
    'certificate_authority_unknown',
    ({ receivers, unknown }) => {
      const { key, cert } = unknown.issue();
      return receivers.secure({ key, cert: `${cert}${unknown.cert}` });
    },
  ],
  [
    'has a certificate for another host',
    'certificate_name_mismatch',
    ({ receivers, known }) => receivers.secure(known.issue({ host: 'other.example.org' })),
  ],
  [
    'has a certificate with a short key',
    'certificate_too_weak',
    ({ receivers, known }) => receivers.secure({ ...known.issue({ rsaBits: 768 }), ...WEAK }),
  ],
  [
    'has a certificate signed with SHA-1',
    'certificate_too_weak',
    ({ receivers, known }) => receivers.secure({ ...known.issue({ digest: 'sha1' }), ...WEAK }),
  ],
  [
    'has a certificate for clients',
    'certificate_invalid',
    ({ receivers, known }) => receivers.secure(known.issue({ usage: 'clientAuth' })),
  ],
  [
    'answers with long headers',
    'answer_too_large',
    ({ receivers }) => receivers.raw(`HTTP/1.1 200 OK\r\nx-padding: ${LONG}\r\n\r\n`),
  ],
  [
    'speaks something else than HTTP',
    'answer_invalid',
    ({ receivers }) => receivers.raw('220 mail.example.org ESMTP\r\n'),
  ],
];

/** What only time tells. */
const SILENT: readonly string[] = [
  'accepts the connection and never answers',
  'never begins the TLS handshake',
  'has name servers that are silent',
  'answers 200 and goes silent halfway',
];
const PATIENCE_MS = 180_000;

const WITH_AN_ANSWER_CUT_SHORT: readonly Failure[] = [
  [
    'answers 200 with 70 kB',
    'answer_too_large',
    ({ receivers }) => receivers.raw(`HTTP/1.1 200 OK\r\ncontent-length: 70000\r\n\r\n${LONG}`),
  ],
  [
    'answers 200 and hangs up halfway',
    'connection_lost',
    ({ receivers }) => receivers.raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', (socket) => socket.end()),
  ],
  [
    'answers 200 and goes silent halfway',
    'timeout',
    ({ receivers }) => receivers.raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  ],
];

const STATUSES: readonly (readonly [status: number, explained: keyof typeof STATUS_EXPLANATIONS])[] = [
  [301, '3xx'],
  [308, '3xx'],
  [400, '400'],
  [401, '401'],
  [403, '403'],
  [404, '404'],
  [405, '405'],
  [410, '410'],
  [413, '413'],
  [418, '4xx'],
  [422, '4xx'],
  [429, '429'],
  [500, '5xx'],
  [502, '502'],
  [503, '503'],
  [504, '504'],
  [599, '5xx'],
  [700, 'other'],
];

let database: TestDatabase;
let api: TestApi;
let world: World;
let names: NameServer;
/** The delivery to each receiver, as the API lists it, by what the receiver does. */
let shown: ReadonlyMap<string, Json>;

beforeAll(async () => {
  database = await createTestDatabase('webhook-explanations');
  api = await startApi(database);
  world = {
    receivers: failingReceivers(),
    known: createCertificateAuthority(),
    unknown: createCertificateAuthority(),
  };
  names = await startNameServer(({ name }) => {
    if (name === 'silent.example.org') return null;
    return name === 'inside.example.org' ? ['10.0.0.1'] : [];
  });
  shown = await deliverToAll();
});

afterAll(async () => {
  await world?.receivers.close();
  world?.known.close();
  world?.unknown.close();
  await names?.close();
  await api?.stop();
  await database?.drop();
});

async function deliverToAll(): Promise<ReadonlyMap<string, Json>> {
  const receivers: [string, string][] = [
    ['accepts', await world.receivers.answering(200)],
    ['proves itself', await world.receivers.secure(world.known.issue())],
  ];
  for (const [what, , start] of [...WITHOUT_ANSWER, ...WITH_AN_ANSWER_CUT_SHORT]) {
    receivers.push([what, await start(world)]);
  }
  for (const [status] of STATUSES) receivers.push([String(status), await world.receivers.answering(status)]);
  const whats = new Map<string, string>();
  for (const [what, url] of receivers) whats.set((await subscribe(api.database, url)).id, what);
  await recordEvents(api.database, await insertClient(api.database));
  await sequence(api.database);

  const silent = new Set(receivers.filter(([what]) => SILENT.includes(what)).map(([, url]) => url));
  const schedule = { attemptDelaysSeconds: [0, 3_600], jitterRatio: 0 };
  const options = { timeoutMs: PATIENCE_MS, receivers: silentLast(silent, receivers.length - silent.size), schedule };
  const drains = createDrains(api.database, options);
  await drains.drain();
  await drains.close();
  const { body } = await api.call('GET', '/webhook-deliveries?metadata.page.size=100', undefined, { as: 'viewer' });
  const deliveries: Json[] = body.data.webhookDeliveries;
  expect(deliveries).toHaveLength(receivers.length);
  return new Map(deliveries.map((delivery) => [whats.get(delivery.webhookSubscriptionId) ?? '', delivery]));
}

/**
 * All but the silent receivers get as much time as a busy machine needs. The silent ones are tried when the others are done with,
 * so that nothing else in this process keeps it from noticing what they do in their few seconds.
 */
function silentLast(silent: ReadonlySet<string>, othersCount: number): Receivers {
  const waiting = (timeoutMs: number) => {
    const resolve = createNameResolver({ deadlineMs: timeoutMs / 2, servers: [names.address] });
    return createReceivers({ policy: LOOPBACK_POLICY, timeoutMs, certificateAuthority: world.known.cert, resolve });
  };
  const [patient, brief] = [waiting(PATIENCE_MS), waiting(6_000)];
  const others = gate();
  let left = othersCount;
  return {
    post: async (...given) => {
      if (silent.has(given[0])) {
        await others.opened;
        return brief.post(...given);
      }
      try {
        return await patient.post(...given);
      } finally {
        left -= 1;
        if (left === 0) others.open();
      }
    },
    close: async () => {
      await patient.close();
      await brief.close();
    },
  };
}

function sentences({ happened, action }: Explanation): string {
  return `${happened} ${action}`;
}

describe('the log of a delivery to a receiver that', () => {
  test.each(WITHOUT_ANSWER)('%s explains %s', (what, error) => {
    const explanation = sentences(ERROR_EXPLANATIONS[error]);
    expect(shown.get(what)?.attempts).toMatchObject([{ number: 1, responseCode: null, error, explanation }]);
  });

  test.each(WITH_AN_ANSWER_CUT_SHORT)('%s explains %s', (what, error) => {
    const explanation = sentences(ERROR_EXPLANATIONS[error]);
    expect(shown.get(what)?.attempts).toMatchObject([{ number: 1, responseCode: 200, error, explanation }]);
  });

  test.each(STATUSES)('answers %i explains it by %s', (status, explained) => {
    const explanation = sentences(STATUS_EXPLANATIONS[explained]);
    expect(shown.get(String(status))?.attempts).toMatchObject([{ responseCode: status, error: null, explanation }]);
  });

  test.each(['accepts', 'proves itself'])('%s explains nothing', (what) => {
    expect(shown.get(what)).toMatchObject({
      status: 'succeeded',
      attempts: [{ responseCode: 200, error: null, explanation: null }],
    });
  });
});

test('receivers have failed in each way that has a code, except those that no receiver on this machine can show', () => {
  const seen = [...WITHOUT_ANSWER, ...WITH_AN_ANSWER_CUT_SHORT].map(([, error]) => error);
  const unseen = Object.keys(ERROR_EXPLANATIONS).filter((error) => !seen.some((one) => one === error));
  expect(unseen.sort()).toEqual(['connection_failed', 'event_unreadable']);
});

test.each(ROLES)(
  '%s reads deliveries with their explanations, and only admin redelivers or sees subscriptions',
  async (as) => {
    const expected = shown.get('has an expired certificate');
    const one = await api.call('GET', `/webhook-deliveries/${expected?.id}`, undefined, { as });
    expect(one.status, one.text).toBe(200);
    expect(one.body.data.webhookDelivery).toEqual(expected);
    const path = `/webhook-deliveries?data.webhookDelivery.webhookSubscriptionId=${expected?.webhookSubscriptionId}`;
    expect((await api.call('GET', path, undefined, { as })).body.data.webhookDeliveries).toEqual([expected]);

    const accepted = as === 'admin' ? 200 : 403;
    const retry = { workflow: { code: 'direct' }, data: {} };
    const retried = await api.call('POST', `/webhook-deliveries/${shown.get('accepts')?.id}/retry`, retry, { as });
    expect(retried.status, retried.text).toBe(accepted);
    expect((await api.call('GET', '/webhook-subscriptions', undefined, { as })).status).toBe(accepted);
  },
);

const PAGE = fileURLToPath(new URL('../../docs/reference/webhook-attempts.md', import.meta.url));
const PRINTED = /(<!-- explanations -->\n).*?(\n<!-- end of explanations -->)/s;

function table(): string {
  const row = (code: string, { action }: Explanation) => `| ${code} | ${action} |`;
  return [
    '| `error` or `responseCode` | What to do |',
    '|---|---|',
    ...Object.entries(ERROR_EXPLANATIONS).map(([code, explanation]) => row(`\`${code}\``, explanation)),
    ...Object.entries(STATUS_EXPLANATIONS).map(([code, explanation]) => row(code, explanation)),
    row('a code that this release does not know', UNKNOWN_ERROR_EXPLANATION),
  ].join('\n');
}

test('docs/reference/webhook-attempts.md lists every code with what to do about it', () => {
  const printed = (page: string) => page.replace(PRINTED, (_all, begin, end) => `${begin}${table()}${end}`);
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(PAGE, printed(readFileSync(PAGE, 'utf8')));
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(PRINTED);
  expect(page).toBe(printed(page));
});
