import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring } from './keyring.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ROW = 'webhook_secrets.secret 1';
const TEXTS = ['', 'whsec_c2VjcmV0', '{"name":"Zoë Müller 🐝"}', 'x'.repeat(100_000)];

describe('a value', () => {
  test.each(TEXTS.map((text) => [text.slice(0, 20), text]))(
    'comes back as it was, and shows nothing: %s',
    (_, text) => {
      const keyring = createKeyring([first]);
      const stored = keyring.encrypt(text, ROW);
      expect(keyring.decrypt(stored, ROW)).toBe(text);
      expect(stored).toMatch(/^enc:v1:[0-9a-f]{16}:[A-Za-z0-9_-]+$/);
      if (text !== '') expect(stored).not.toContain(text);
      expect(keyring.encrypt(text, ROW)).not.toBe(stored);
    },
  );

  test('of another row, or changed in any place, is rejected', () => {
    const keyring = createKeyring([first]);
    const stored = keyring.encrypt('whsec_c2VjcmV0', ROW);
    expect(() => keyring.decrypt(stored, 'webhook_secrets.secret 2')).toThrow();
    for (let at = keyring.prefix.length; at < stored.length; at += 1) {
      const changed = stored.slice(0, at) + (stored[at] === 'A' ? 'B' : 'A') + stored.slice(at + 1);
      // The last base64url character may contain unused bits.
      if (Buffer.from(changed.slice(24), 'base64url').equals(Buffer.from(stored.slice(24), 'base64url'))) continue;
      expect(() => keyring.decrypt(changed, ROW), String(at)).toThrow();
    }
  });

  test('from before a rotation can be read; new values use only the newest key', () => {
    const before = createKeyring([first]).encrypt('whsec_c2VjcmV0', ROW);
    const rotated = createKeyring([second, first]);
    expect(rotated.decrypt(before, ROW)).toBe('whsec_c2VjcmV0');
    expect(before.startsWith(rotated.prefix)).toBe(false);
    const after = rotated.encrypt('whsec_c2VjcmV0', ROW);
    expect(after.startsWith(rotated.prefix)).toBe(true);
    expect(createKeyring([second]).decrypt(after, ROW)).toBe('whsec_c2VjcmV0');
  });

  test('under a missing key is rejected with the id of the key and without the value', () => {
    const stored = createKeyring([first]).encrypt('whsec_c2VjcmV0', ROW);
    const id = stored.split(':')[2] ?? '';
    expect(() => createKeyring([second]).decrypt(stored, ROW)).toThrow(`key ${id}, which ENCRYPTION_KEY does not hold`);
  });

  test.each(['whsec_c2VjcmV0', '{"data":{}}', 'Katherine Green', 'enc:v1:nonsense'])(
    'that was not encrypted is rejected, without the value: %s',
    (text) => {
      expect(() => createKeyring([first]).decrypt(text, ROW)).toThrow(`a value of ${ROW} is not encrypted`);
    },
  );
});
