import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createNameResolver, type ResolveName } from '../../activities/webhooks/name-resolver.ts';
import { createReceivers, type ReceiverOptions, type Receivers } from '../../activities/webhooks/receivers.ts';
import type { AttemptOutcome } from '../../domain/webhooks/deliveries.ts';
import { startNameServer } from '../harness/servers/name-server.ts';
import { LOOPBACK_POLICY, startReceiver } from '../harness/webhooks/webhooks.ts';

const STRICT = { allowPlainHttp: true, allowLoopback: false, ownBaseUrl: 'https://accounts.example.com' };
const closers: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function receivers(options: Partial<ReceiverOptions> = {}): Receivers {
  const made = createReceivers({ policy: LOOPBACK_POLICY, timeoutMs: 60_000, ...options });
  closers.push(() => made.close());
  return made;
}

function post(made: Receivers, url: string): Promise<AttemptOutcome> {
  return made.post(url, { 'webhook-id': 'one' }, '{}', new AbortController().signal);
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A server that answers every connection with these bytes; `then` acts on it further. */
async function raw(answer: string, then: (socket: Socket) => void = () => {}): Promise<string> {
  const port = await listening(
    createTcpServer((socket) => {
      socket.once('data', () => {
        socket.write(answer);
        then(socket);
      });
    }),
  );
  return `http://127.0.0.1:${port}/hook`;
}

/** A resolver with this answer for every name. */
function resolvesTo(...addresses: string[]): ResolveName {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

describe('a receiver that misbehaves', () => {
  test('by never accepting what it accepted, is given up after the deadline', async () => {
    const port = await listening(createTcpServer(() => {}));
    const outcome = await post(receivers({ timeoutMs: 500 }), `http://127.0.0.1:${port}/hook`);
    expect(outcome).toMatchObject({ responseCode: null, error: 'timeout' });
  });

  test('by dripping its headers, is given up after the deadline', async () => {
    const url = await raw('HTTP/1.1 200 OK\r\n', (socket) => {
      const drip = setInterval(() => socket.write('x-more: 1\r\n'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(receivers({ timeoutMs: 500 }), url)).toMatchObject({ responseCode: null, error: 'timeout' });
  });

  test('by dripping its body, is given up after the deadline, although it said 200', async () => {
    const url = await raw('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', (socket) => {
      const drip = setInterval(() => socket.write('.'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(receivers({ timeoutMs: 5_000 }), url)).toMatchObject({ responseCode: 200, error: 'timeout' });
  });

  test('by sending without end, is cut off after 64 kB', async () => {
    let sent = 0;
    const url = await raw('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n', (socket) => {
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

  test('by sending headers without end, is refused', async () => {
    const url = await raw(`HTTP/1.1 200 OK\r\n${'x-padding: '.padEnd(1_000, 'a')}\r\n`.repeat(200));
    expect((await post(receivers(), url)).error).not.toBeNull();
  });

  test('by resetting the connection, is a lost connection', async () => {
    const url = await raw('', (socket) => socket.resetAndDestroy());
    expect(await post(receivers(), url)).toMatchObject({ responseCode: null, error: 'connection_lost' });
  });

  test('by hanging up in the middle of its answer, is a lost connection', async () => {
    const url = await raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', (socket) => socket.destroy());
    expect(await post(receivers(), url)).toMatchObject({ responseCode: 200, error: 'connection_lost' });
  });

  test('by speaking something else than HTTP, is an invalid answer', async () => {
    expect(await post(receivers(), await raw('220 mail.example.org ESMTP\r\n'))).toMatchObject({
      error: 'answer_invalid',
    });
  });

  test('by not being there, is a failed connection', async () => {
    const gone = await startReceiver();
    await gone.close();
    expect(await post(receivers(), gone.url)).toMatchObject({ responseCode: null, error: 'connection_failed' });
  });

  test('by an unknown name, is a failed name', async () => {
    const knowsNone = await startNameServer(() => []);
    closers.push(() => knowsNone.close());
    const resolve = createNameResolver({ deadlineMs: 60_000, servers: [knowsNone.address] });
    expect(await post(receivers({ resolve }), 'http://nobody.example.org/')).toMatchObject({ error: 'dns_failed' });
  });

  test('by an untrusted certificate, is refused; a trusted one is accepted', async () => {
    const { key, cert } = selfSigned();
    const server = createHttpsServer({ key, cert }, (_request, response) => response.writeHead(200).end('ok'));
    const port = await listening(server);
    const url = `https://localhost:${port}/hook`;
    expect(await post(receivers(), url)).toMatchObject({ responseCode: null, error: 'tls_failed' });
    expect(await post(receivers({ certificateAuthority: cert }), url)).toMatchObject({
      responseCode: 200,
      error: null,
    });
    const plain = await listening(createHttpServer((_request, response) => response.end()));
    expect((await post(receivers(), `https://localhost:${plain}/hook`)).error).toBe('tls_failed');
  });
});

/** Made on the spot, for localhost. */
function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-tls-'));
  try {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', keyFile, '-out', certFile];
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files];
    execFileSync('openssl', args, { stdio: 'ignore' });
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('an address', () => {
  test.each(['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1', '::127.0.0.1'])(
    'that a name resolves to by now is refused before anything is sent: %s',
    async (address) => {
      const receiver = await startReceiver();
      closers.push(() => receiver.close());
      const guarded = receivers({ policy: STRICT, resolve: resolvesTo(address) });
      const outcome = await post(guarded, 'http://receiver.example.org/hook');
      expect(outcome).toMatchObject({ responseCode: null, error: 'address_refused' });
      expect(receiver.connections()).toBe(0);
    },
  );

  test('is refused when only one of several is not public', async () => {
    const guarded = receivers({ policy: STRICT, resolve: resolvesTo('93.184.216.34', '127.0.0.1') });
    expect(await post(guarded, 'http://receiver.example.org/')).toMatchObject({ error: 'address_refused' });
  });

  test.each(['127.0.0.1', '127.1', '2130706433', '0x7f000001', '[::1]', '[::ffff:7f00:1]', 'localhost', 'a.localhost'])(
    'of the loopback is never dialled where the configuration forbids it: %s',
    async (host) => {
      const receiver = await startReceiver();
      closers.push(() => receiver.close());
      const outcome = await post(receivers({ policy: STRICT }), `http://${host}:${receiver.port}/hook`);
      expect(outcome).toMatchObject({ responseCode: null, error: 'address_refused' });
      expect(receiver.connections()).toBe(0);
    },
  );

  test('of the service itself is never dialled, by no name of it', async () => {
    const service = await startReceiver();
    closers.push(() => service.close());
    const policy = { ...LOOPBACK_POLICY, ownBaseUrl: `http://127.0.0.1:${service.port}` };
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::ffff:127.0.0.1]']) {
      const outcome = await post(receivers({ policy }), `http://${host}:${service.port}/webhook-subscriptions`);
      expect(outcome, host).toMatchObject({ error: 'address_refused' });
    }
    expect(service.connections()).toBe(0);
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

  test('that never answers holds up its own receivers alone: names of banks resolve meanwhile', async () => {
    const { server, made } = await throughServer(() => null);
    // More than the threads with which the system's resolver serves the whole process.
    const names = Array.from({ length: 16 }, (_, index) => `http://silent-${index}.example.org/hook`);
    let ended = 0;
    const attempts = names.map((name) => post(made, name).finally(() => (ended += 1)));
    while (server.questions() < names.length) await sleep(10);
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    // Does what a bank's adapter does: the system's resolver, and a connection.
    expect(await lookup('localhost')).toMatchObject({ family: expect.any(Number) });
    expect((await fetch(`http://localhost:${receiver.port}/`, { method: 'POST', body: '{}' })).status).toBe(200);
    expect((await post(made, receiver.url)).responseCode).toBe(200);
    expect(ended).toBe(0);
    expect(new Set((await Promise.all(attempts)).map(({ error }) => error))).toEqual(new Set(['dns_failed']));
  });

  test('is asked anew for every connection, and what it says is checked each time', async () => {
    const turns = [['127.0.0.1'], ['10.0.0.1'], ['93.184.216.34', '10.0.0.1']];
    const { made } = await throughServer(({ type }) => (type === 'A' ? (turns.shift() ?? []) : []));
    const url = 'http://receiver.example.org:8080/hook';
    // Whether or not something listens there: it was dialled.
    expect((await post(made, url)).error).not.toBe('address_refused');
    expect(await post(made, url)).toMatchObject({ error: 'address_refused' });
    expect(await post(made, url)).toMatchObject({ error: 'address_refused' });
  });

  test('of the system is asked by a resolver of our own, which knows every name below localhost', async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const url = `http://hooks.localhost:${receiver.port}/hook`;
    expect((await post(receivers(), url)).responseCode).toBe(200);
    expect((await post(receivers({ policy: STRICT }), url)).error).toBe('address_refused');
  });

  test('that is silent about IPv6 alone does not keep a receiver from being reached', async () => {
    const { server, made } = await throughServer(({ type }) => (type === 'A' ? ['127.0.0.1'] : null));
    const outcome = await post(made, 'http://receiver.example.org:8080/hook');
    expect(outcome.error).not.toBe('dns_failed');
    expect(server.questions()).toBeGreaterThan(1);
  });

  test('gets no queries for localhost and names of the hosts file; both are refused if loopback is', async () => {
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
      expect((await post(receivers({ resolve, policy: STRICT }), url)).error, name).toBe('address_refused');
    }
    const internal = 'http://receiver.internal:8080/hook';
    expect((await post(receivers({ resolve, policy: STRICT }), internal)).error).toBe('address_refused');
    expect((await post(receivers({ resolve }), internal)).error).not.toMatch(/address_refused|dns_failed/);
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
