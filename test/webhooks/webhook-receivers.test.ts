import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createNameResolver, type ResolveName } from '../../activities/webhooks/name-resolver.ts';
import { createReceivers, type ReceiverOptions, type Receivers } from '../../activities/webhooks/receivers.ts';
import type { AttemptOutcome } from '../../domain/webhooks/deliveries.ts';
import { startNameServer } from '../harness/servers/name-server.ts';
import { failingReceivers } from '../harness/webhooks/failing-receivers.ts';
import { silentAddresses } from '../harness/webhooks/silent-addresses.ts';
import { LOOPBACK_POLICY, startReceiver } from '../harness/webhooks/webhooks.ts';

const STRICT = { allowPlainHttp: true, allowLoopback: false, ownBaseUrl: 'https://accounts.example.com' };
const failing = failingReceivers();
const closers: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await failing.close();
});

function receivers(options: Partial<ReceiverOptions> = {}): Receivers {
  const made = createReceivers({ policy: LOOPBACK_POLICY, timeoutMs: 60_000, ...options });
  closers.push(() => made.close());
  return made;
}

function post(made: Receivers, url: string): Promise<AttemptOutcome> {
  return made.post(url, { 'webhook-id': 'one' }, '{}', new AbortController().signal);
}

/** A resolver with this answer for every name. */
function resolvesTo(...addresses: string[]): ResolveName {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

describe('a receiver that misbehaves', () => {
  test('by dripping its headers, is given up after the deadline', async () => {
    const url = await failing.raw('HTTP/1.1 200 OK\r\n', (socket) => {
      const drip = setInterval(() => socket.write('x-more: 1\r\n'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(receivers({ timeoutMs: 3_000 }), url)).toMatchObject({ responseCode: null, error: 'timeout' });
  });

  test('by dripping its body, is given up after the deadline, although it said 200', async () => {
    const url = await failing.raw('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', (socket) => {
      const drip = setInterval(() => socket.write('.'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(receivers({ timeoutMs: 5_000 }), url)).toMatchObject({ responseCode: 200, error: 'timeout' });
  });

  test('by sending without end, is cut off after 64 kB', async () => {
    let sent = 0;
    const url = await failing.raw('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n', (socket) => {
      const chunk = Buffer.alloc(65_536, 'a');
      const flood = () => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
        if (!socket.destroyed) socket.once('drain', flood);
      };
      flood();
    });
    const outcome = await post(receivers(), url);
    expect(outcome).toMatchObject({ responseCode: 200, error: 'answer_too_large' });
    expect(outcome.responseBody).toHaveLength(1_024);
    // The buffers of two sockets bound what was in flight when it was aborted.
    expect(sent).toBeLessThan(50_000_000);
  });

  test('by sending headers without end, is rejected', async () => {
    const url = await failing.raw(`HTTP/1.1 200 OK\r\n${'x-padding: '.padEnd(1_000, 'a')}\r\n`.repeat(200));
    expect((await post(receivers(), url)).error).not.toBeNull();
  });
});

describe('a connection that is lost', () => {
  const LOSSES: [string, (socket: Socket) => void][] = [
    ['ended', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ];

  test.each(LOSSES)(
    '%s while it was idle costs no attempt: the same one goes over a new connection',
    async (_, lose) => {
      const losing = vi.fn(lose);
      const receiver = await failing.losing(1, losing);
      const made = receivers();
      const outcomes: AttemptOutcome[] = [];
      for (let number = 0; number < 6; number += 1) outcomes.push(await post(made, receiver.url));
      expect(losing).toHaveBeenCalled();
      expect(outcomes).toEqual(Array(6).fill(expect.objectContaining({ responseCode: 200, error: null })));
      expect(receiver).toMatchObject({ connections: 6, read: 6 });
    },
  );

  test.each(LOSSES)('%s when it is new fails the attempt, which is not repeated at once', async (_, lose) => {
    const receiver = await failing.losing(0, lose);
    expect(await post(receivers(), receiver.url)).toMatchObject({ responseCode: null, error: 'connection_lost' });
    expect(receiver.connections).toBe(1);
  });

  test('in the middle of an answer fails the attempt: the receiver has had it', async () => {
    let connections = 0;
    const url = await failing.raw('HTTP/1.1', (socket) => {
      connections += 1;
      socket.end();
    });
    expect(await post(receivers(), url)).toMatchObject({ responseCode: null, error: 'connection_lost' });
    expect(connections).toBe(1);
  });

  test('in the middle of its second answer fails the attempt as well', async () => {
    const losing = vi.fn((socket: Socket) => void socket.end('HTTP/1.1'));
    const receiver = await failing.losing(1, losing);
    const made = receivers();
    const outcomes: AttemptOutcome[] = [];
    for (let number = 0; number < 6; number += 1) outcomes.push(await post(made, receiver.url));
    const lostCount = losing.mock.calls.length;
    expect(lostCount).toBeGreaterThan(0);
    expect(outcomes.filter(({ error }) => error === 'connection_lost')).toHaveLength(lostCount);
    expect(receiver.read + lostCount).toBe(6);
  });
});

describe('an address', () => {
  test.each(['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1', '::127.0.0.1'])(
    'that a name resolves to by now is rejected before anything is sent: %s',
    async (address) => {
      const receiver = await startReceiver();
      closers.push(() => receiver.close());
      const guarded = receivers({ policy: STRICT, resolve: resolvesTo(address) });
      const outcome = await post(guarded, 'http://receiver.example.org/hook');
      expect(outcome).toMatchObject({ responseCode: null, error: 'address_rejected' });
      expect(receiver.connections()).toBe(0);
    },
  );

  test('is rejected when only one of several is not public', async () => {
    const guarded = receivers({ policy: STRICT, resolve: resolvesTo('93.184.216.34', '127.0.0.1') });
    expect(await post(guarded, 'http://receiver.example.org/')).toMatchObject({ error: 'address_rejected' });
  });

  test.each(['127.0.0.1', '127.1', '2130706433', '0x7f000001', '[::1]', '[::ffff:7f00:1]', 'localhost', 'a.localhost'])(
    'of the loopback is never dialled where the configuration forbids it: %s',
    async (host) => {
      const receiver = await startReceiver();
      closers.push(() => receiver.close());
      const outcome = await post(receivers({ policy: STRICT }), `http://${host}:${receiver.port}/hook`);
      expect(outcome).toMatchObject({ responseCode: null, error: 'address_rejected' });
      expect(receiver.connections()).toBe(0);
    },
  );

  test('of the service itself is never dialled, by no name of it', async () => {
    const service = await startReceiver();
    closers.push(() => service.close());
    const policy = { ...LOOPBACK_POLICY, ownBaseUrl: `http://127.0.0.1:${service.port}` };
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::ffff:127.0.0.1]']) {
      const outcome = await post(receivers({ policy }), `http://${host}:${service.port}/webhook-subscriptions`);
      expect(outcome, host).toMatchObject({ error: 'address_rejected' });
    }
    expect(service.connections()).toBe(0);
  });

  test('that takes long is waited for, although its name has another one where nothing listens', async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const resolve: ResolveName = (hostname) => {
      // As on a busy machine, or far from the receiver: what comes back is noticed late.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600));
      return resolvesTo('127.0.0.1', '::1')(hostname);
    };
    const outcome = await post(receivers({ resolve }), `http://receiver.localhost:${receiver.port}/hook`);
    expect(outcome).toMatchObject({ responseCode: 200, error: null });
  });

  test('that is alive gets the attempt, however many of its name are dead before it', async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const dead = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
    closers.push(await silentAddresses(dead, receiver.port));
    const made = receivers({ resolve: resolvesTo(...dead, '127.0.0.1'), timeoutMs: 15_000 });
    const url = `http://receiver.localhost:${receiver.port}/hook`;
    expect(await post(made, url)).toMatchObject({ responseCode: 200, error: null });
    const none = receivers({ resolve: resolvesTo(...dead), timeoutMs: 3_000 });
    expect(await post(none, url)).toMatchObject({ responseCode: null, error: 'connect_timeout' });
  });

  test('that refuses is followed at once by the next; if all do, the attempt says so', async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const refusing = Array.from({ length: 30 }, (_, index) => `127.0.0.${index + 2}`);
    const url = `http://receiver.localhost:${receiver.port}/hook`;
    const made = receivers({ resolve: resolvesTo(...refusing, '127.0.0.1') });
    expect(await post(made, url)).toMatchObject({ responseCode: 200, error: null });
    const none = receivers({ resolve: resolvesTo(...refusing) });
    expect(await post(none, url)).toMatchObject({ responseCode: null, error: 'connection_refused' });
  });

  test('of a redirect is not visited', async () => {
    const inside = await startReceiver();
    const outside = await startReceiver();
    closers.push(
      () => inside.close(),
      () => outside.close(),
    );
    outside.answer((_message, response) => response.writeHead(308, { location: inside.url }).end());
    expect(await post(receivers(), outside.url)).toMatchObject({ responseCode: 308, error: null });
    expect(inside.connections()).toBe(0);
  });
});

describe('a name server', () => {
  async function throughServer(answer: Parameters<typeof startNameServer>[0], policy = LOOPBACK_POLICY) {
    const server = await startNameServer(answer);
    closers.push(() => server.close());
    const resolve = createNameResolver({ deadlineMs: 5_000, servers: [server.address] });
    return { server, made: receivers({ policy, resolve }) };
  }

  test('that never answers holds up only its own receivers: names of banks resolve meanwhile', async () => {
    const { server, made } = await throughServer(() => null);
    // More than the threads with which the system's resolver serves the whole process.
    const names = Array.from({ length: 16 }, (_, index) => `http://silent-${index}.example.org/hook`);
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const endedMeanwhile = async () => {
      let ended = 0;
      const asked = server.questions();
      const attempts = names.map((name) => post(made, name).finally(() => (ended += 1)));
      while (server.questions() < asked + names.length) await sleep(10);
      // Does what a bank's adapter does: the system's resolver, and a connection.
      expect(await lookup('localhost')).toMatchObject({ family: expect.any(Number) });
      expect((await fetch(`http://localhost:${receiver.port}/`, { method: 'POST', body: '{}' })).status).toBe(200);
      expect((await post(made, receiver.url)).responseCode).toBe(200);
      const count = ended;
      expect(new Set((await Promise.all(attempts)).map(({ error }) => error))).toEqual(new Set(['dns_failed']));
      return count;
    };
    // Their few seconds may be over before a busy machine has done the rest; who is held up by them never does it before.
    let ended = await endedMeanwhile();
    for (let again = 0; ended > 0 && again < 10; again += 1) ended = await endedMeanwhile();
    expect(ended).toBe(0);
  });

  test('is asked again for every connection, and its answer is checked each time', async () => {
    const turns = [['127.0.0.1'], ['10.0.0.1'], ['93.184.216.34', '10.0.0.1']];
    const { made } = await throughServer(({ type }) => (type === 'A' ? (turns.shift() ?? []) : []));
    const url = 'http://receiver.example.org:8080/hook';
    // Whether or not something listens there: it was dialled.
    expect((await post(made, url)).error).not.toBe('address_rejected');
    expect(await post(made, url)).toMatchObject({ error: 'address_rejected' });
    expect(await post(made, url)).toMatchObject({ error: 'address_rejected' });
  });

  test('of the system is asked by a resolver of our own, which knows every name below localhost', async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const url = `http://hooks.localhost:${receiver.port}/hook`;
    expect((await post(receivers(), url)).responseCode).toBe(200);
    expect((await post(receivers({ policy: STRICT }), url)).error).toBe('address_rejected');
  });

  test('that is silent about IPv6 only does not keep a receiver from being reached', async () => {
    const { server, made } = await throughServer(({ type }) => (type === 'A' ? ['127.0.0.1'] : null));
    const outcome = await post(made, 'http://receiver.example.org:8080/hook');
    expect(outcome.error).not.toBe('dns_failed');
    expect(server.questions()).toBeGreaterThan(1);
  });

  test('gets no queries for localhost and names of the hosts file; both are rejected if loopback is', async () => {
    const receiver = await startReceiver();
    const { server } = await throughServer(() => ['93.184.216.34']);
    const folder = mkdtempSync(join(tmpdir(), 'hosts-'));
    closers.push(
      () => receiver.close(),
      () => rmSync(folder, { recursive: true }),
    );
    const hostsFile = join(folder, 'hosts');
    writeFileSync(hostsFile, '# 10.0.0.1 receiver.internal\n127.0.0.1\tother Receiver.Internal # ours\n');
    const resolve = createNameResolver({ deadlineMs: 5_000, servers: [server.address], hostsFile });
    expect(await resolve('receiver.internal.')).toEqual([{ address: '127.0.0.1', family: 4 }]);
    for (const name of ['localhost', 'hooks.localhost']) {
      const url = `http://${name}:${receiver.port}/hook`;
      expect((await post(receivers({ resolve }), url)).responseCode, name).toBe(200);
      expect((await post(receivers({ resolve, policy: STRICT }), url)).error, name).toBe('address_rejected');
    }
    const internal = 'http://receiver.internal:8080/hook';
    expect((await post(receivers({ resolve, policy: STRICT }), internal)).error).toBe('address_rejected');
    expect((await post(receivers({ resolve }), internal)).error).not.toMatch(/address_rejected|dns_failed/);
    expect(server.questions()).toBe(0);
  });
});

test('an aborted attempt rejects at once, as its outcome is unknown', async () => {
  const receiver = await startReceiver();
  closers.push(() => receiver.close());
  receiver.answer(() => stop.abort());
  const stop = new AbortController();
  await expect(receivers().post(receiver.url, {}, '{}', stop.signal)).rejects.toThrow();
  await expect(receivers().post(receiver.url, {}, '{}', stop.signal)).rejects.toThrow();
  expect(receiver.received).toHaveLength(1);
});

test('connections are kept alive between attempts', async () => {
  const receiver = await startReceiver();
  closers.push(() => receiver.close());
  const made = receivers();
  for (let turn = 0; turn < 20; turn += 1) expect((await post(made, receiver.url)).responseCode).toBe(200);
  expect(receiver.received).toHaveLength(20);
  expect(receiver.connections()).toBeLessThan(4);
});
