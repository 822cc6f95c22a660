import { describe, expect, test } from 'vitest';
import { isAllowedAddress, type WebhookAddressPolicy, webhookUrlProblem } from './addresses.ts';

const STRICT: WebhookAddressPolicy = {
  allowPlainHttp: false,
  allowLoopback: false,
  allowPrivate: false,
  ownBaseUrl: 'https://accounts.example.com',
};

const EMBEDDED: WebhookAddressPolicy = {
  ...STRICT,
  allowPlainHttp: true,
  allowLoopback: true,
  ownBaseUrl: 'http://127.0.0.1:3000',
};

const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::7f00:1',
  '::10.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:7f00:0001::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'not an address',
  '',
];

describe('an address', () => {
  test.each(NOT_PUBLIC)('%s is rejected', (address) => {
    expect(isAllowedAddress(address, STRICT)).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(isAllowedAddress(address, STRICT)).toBe(true);
    },
  );

  test('of the loopback is allowed where the configuration allows it, and no other with it', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(isAllowedAddress(address, EMBEDDED), address).toBe(true);
    }
    for (const address of ['0.0.0.0', '::', '10.0.0.1', '169.254.169.254', '::127.0.0.1', '64:ff9b::127.0.0.1']) {
      expect(isAllowedAddress(address, EMBEDDED), address).toBe(false);
    }
  });

  test('of a private range is allowed where the configuration allows it', () => {
    const policy = { ...STRICT, allowPrivate: true };
    expect(isAllowedAddress('10.1.2.3', policy)).toBe(true);
    expect(isAllowedAddress('fd00::5', policy)).toBe(true);
    expect(isAllowedAddress('169.254.169.254', policy)).toBe(false);
    expect(isAllowedAddress('127.0.0.1', policy)).toBe(false);
  });
});

describe('a url', () => {
  test.each([
    'https://127.0.0.1/hook',
    'https://127.1/hook',
    'https://2130706433/hook',
    'https://0x7f000001/hook',
    'https://0x7f.1/hook',
    'https://0177.0.0.1/hook',
    'https://127.0.0.1./hook',
    'https://localhost/hook',
    'https://LOCALHOST./hook',
    'https://a.localhost/hook',
    'https://[::1]/hook',
    'https://[0:0:0:0:0:0:0:1]/hook',
    'https://[::ffff:127.0.0.1]/hook',
    'https://[::127.0.0.1]/hook',
    'https://①②⑦.⓪.⓪.①/hook',
    'https://0/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/hook',
    'https://[fd00::1]/hook',
    'https://[64:ff9b::7f00:1]/hook',
  ])('%s is not public', (url) => {
    expect(webhookUrlProblem(url, STRICT)).toBe('is not a public address');
  });

  test.each([
    ['http://receiver.example.org/hook', 'must be an https address'],
    ['ftp://receiver.example.org/hook', 'must be an https address'],
    ['file:///etc/passwd', 'must be an https address'],
    ['javascript:alert(1)', 'must be an https address'],
    ['receiver.example.org', 'is not a url'],
    ['', 'is not a url'],
    ['https://user:secret@receiver.example.org/', 'must not contain credentials'],
    ['https://user@receiver.example.org/', 'must not contain credentials'],
    ['https://receiver.example.org/#part', 'must not have a fragment'],
    ['https://receiver.example.org:22/', 'has a port to which webhooks are not sent'],
    ['https://receiver.example.org:25/', 'has a port to which webhooks are not sent'],
    ['https://receiver.example.org:6379/', 'has a port to which webhooks are not sent'],
    ['https://accounts.example.com/webhook-subscriptions', 'is the address of this service'],
    ['https://ACCOUNTS.example.com./', 'is the address of this service'],
    [`https://receiver.example.org/${'a'.repeat(2048)}`, 'is longer than 2048 characters'],
  ])('%.60s %s', (url, problem) => {
    expect(webhookUrlProblem(url, STRICT)).toBe(problem);
  });

  test.each(['https://receiver.example.org/hook?a=1', 'https://receiver.example.org:8443/', 'https://8.8.8.8/'])(
    '%s is accepted',
    (url) => {
      expect(webhookUrlProblem(url, STRICT)).toBeNull();
    },
  );

  test('of the loopback is accepted where the configuration allows it, except the service itself and low ports', () => {
    expect(webhookUrlProblem('http://127.0.0.1:4567/hook', EMBEDDED)).toBeNull();
    expect(webhookUrlProblem('http://localhost:4567/hook', EMBEDDED)).toBeNull();
    expect(webhookUrlProblem('http://[::1]:4567/hook', EMBEDDED)).toBeNull();
    for (const url of [
      'http://127.0.0.1:3000/',
      'http://localhost:3000/x',
      'http://[::1]:3000/',
      'http://0x7f.1:3000/',
    ]) {
      expect(webhookUrlProblem(url, EMBEDDED), url).toBe('is the address of this service');
    }
    expect(webhookUrlProblem('http://127.0.0.1:22/', EMBEDDED)).toBe('has a port to which webhooks are not sent');
    expect(webhookUrlProblem('http://10.0.0.1/', EMBEDDED)).toBe('is not a public address');
  });
});
