import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showCertificateEnd } from '../../api/beneficiaries/directory-certificate.ts';
import { readDirectoryTls } from '../../config/environment/directory-tls.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { verificationsOf } from '../harness/parties/verifications.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../harness/webhooks/certificates.ts';

// A routing service of the scheme, over TLS: it knows who asks by a certificate of its own authority.

const folder = mkdtempSync(join(tmpdir(), 'directory-tls-'));
let authority: CertificateAuthority;
let other: CertificateAuthority;
let directory: Server;
let asked = 0;
let database: TestDatabase;
let client: string;
const apis: TestApi[] = [];

const fileOf = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const PASSPHRASE = 'opens the key';
/** Files of a certificate of this authority; its key is encrypted. */
function identityOf(name: string, { key, cert }: { readonly key: string; readonly cert: string }) {
  const cipher = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const;
  return {
    EU_VOP_CERTIFICATE_FILE: fileOf(`${name}.pem`, cert),
    EU_VOP_KEY_FILE: fileOf(`${name}.key`, createPrivateKey(key).export(cipher).toString()),
    EU_VOP_KEY_PASSPHRASE: PASSPHRASE,
  };
}

async function apiWith(env: Readonly<Record<string, string>>): Promise<TestApi> {
  const { port } = directory.address() as AddressInfo;
  const users = apis[0] === undefined ? {} : { users: apis[0].users };
  const api = await startApi(database, { ...users, env: { SANDBOX_URL: `https://localhost:${port}`, ...env } });
  apis.push(api);
  return api;
}

beforeAll(async () => {
  authority = createCertificateAuthority();
  other = createCertificateAuthority();
  const own = { ...authority.issue(), ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  directory = createServer(own, (request, response) => {
    asked += 1;
    response.setHeader('x-request-id', request.headers['x-request-id'] ?? '');
    response.end(JSON.stringify({ partyNameMatch: 'MTCH' }));
  });
  await new Promise<void>((listening) => directory.listen(0, '127.0.0.1', listening));
  database = await createTestDatabase('verification-certificates');
  client = await moneyWorld(await apiWith({})).client();
});

afterAll(async () => {
  for (const api of apis) await api.stop();
  directory?.closeAllConnections();
  await new Promise((closed) => directory?.close(closed));
  await database?.drop();
  authority?.close();
  other?.close();
  rmSync(folder, { recursive: true, force: true });
});

const trusted = () => ({ EU_VOP_CA_FILE: fileOf('ca.pem', authority.cert) });

test('with a certificate that the directory knows, it answers', async () => {
  const own = identityOf('own', authority.issue({ usage: 'clientAuth' }));
  const api = await apiWith({ ...trusted(), ...own });
  const { result } = await verificationsOf(api, () => client).verified({ directory: 'eu-vop' });
  expect(result).toMatchObject({ matched: true });
  expect(asked).toBe(1);
});

test.each<[string, () => Record<string, string>]>([
  ['without a certificate', trusted],
  [
    'with one of another authority',
    () => ({ ...trusted(), ...identityOf('other', other.issue({ usage: 'clientAuth' })) }),
  ],
  [
    'with a directory of an authority that we do not know',
    () => ({
      EU_VOP_CA_FILE: fileOf('other-ca.pem', other.cert),
      ...identityOf('own', authority.issue({ usage: 'clientAuth' })),
    }),
  ],
])('%s it is not asked: no answer, and nothing is stored', async (_, env) => {
  const before = asked;
  const verifications = verificationsOf(await apiWith(env()), () => client);
  const stored = (await verifications.stored()).length;
  const { status, body } = await verifications.verify({ directory: 'eu-vop' });
  expect([status, body]).toEqual([503, expect.objectContaining({ code: 'connect.provider.unavailable' })]);
  expect(asked).toBe(before);
  expect(await verifications.stored()).toHaveLength(stored);
});

test('files that cannot be used stop the start with the setting', () => {
  const own = identityOf('own', authority.issue({ usage: 'clientAuth' }));
  const { EU_VOP_KEY_FILE: otherKey } = identityOf('other', authority.issue({ usage: 'clientAuth' }));
  const plain = fileOf('plain.txt', 'nothing');
  const rejected = (changed: Readonly<Record<string, string>>) => () => readDirectoryTls({ ...own, ...changed });
  expect(rejected({ EU_VOP_CERTIFICATE_FILE: join(folder, 'away') })).toThrow(
    /^EU_VOP_CERTIFICATE_FILE names .*away, which cannot be read\.$/,
  );
  expect(rejected({ EU_VOP_CERTIFICATE_FILE: plain })).toThrow(/^EU_VOP_CERTIFICATE_FILE names a file that is no/);
  expect(rejected({ EU_VOP_CERTIFICATE_FILE: '' })).toThrow(/must be set together/);
  expect(rejected({ EU_VOP_KEY_FILE: '' })).toThrow(/must be set together/);
  expect(rejected({ EU_VOP_KEY_FILE: plain })).toThrow(/^EU_VOP_KEY_FILE names a file that is no private key/);
  expect(rejected({ EU_VOP_KEY_PASSPHRASE: 'another' })).toThrow(/^EU_VOP_KEY_FILE .*EU_VOP_KEY_PASSPHRASE does not/);
  expect(rejected({ EU_VOP_KEY_PASSPHRASE: '' })).toThrow(/^EU_VOP_KEY_FILE .*EU_VOP_KEY_PASSPHRASE does not/);
  expect(rejected({ EU_VOP_KEY_FILE: otherKey })).toThrow(/^EU_VOP_KEY_FILE is not the key of/);
  expect(rejected({ EU_VOP_CA_FILE: plain })).toThrow(/^EU_VOP_CA_FILE names a file that is no certificate/);
  expect(readDirectoryTls({})).toEqual({ identity: null, ca: null });
  expect(readDirectoryTls(own).identity?.endsAt).toEqual(new Date('2090-01-01T00:00:00Z'));
});

test('a certificate that ends within 30 days is told of at the start', () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  const now = new Date('2026-11-27T00:00:00Z');
  showCertificateEnd(new Date('2026-12-28T00:00:00Z'), logger, now);
  expect(lines).toEqual([]);
  showCertificateEnd(new Date('2026-12-26T00:00:00Z'), logger, now);
  expect(lines.join()).toContain('ends within 30 days');
});
