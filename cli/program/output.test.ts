import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf, printFailure, withoutSecrets } from './failures.ts';
import { createOutput, printable, wantsColours } from './output.ts';
import { progressLine } from './progress.ts';

/** Streams that keep what is written, as terminals or as pipes. */
function output({ isTTY = false, isJson = false, hasColours = true }) {
  const written = { data: '', errors: '' };
  const stream = (name: keyof typeof written) => ({
    isTTY,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const streams = { data: stream('data'), errors: stream('errors') };
  return { written, shown: createOutput(streams, { isJson, hasColours }) };
}

describe('progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is a bar that is rewritten on a terminal, with what is done and left', () => {
    const { written, shown } = output({ isTTY: true });
    const progress = shown.progress('Checking', 4);
    progress.update(1);
    vi.advanceTimersByTime(1_000);
    expect(written.errors).toBe('\r\u001b[KChecking [######------------------] 1 of 4');
    progress.update(4);
    progress.end();
    expect(written.errors).toMatch(/\[#{24}\] 4 of 4\n$/);
    expect(written.data).toBe('');
  });

  test('is plain lines in a log, and JSON lines under --json', () => {
    for (const isJson of [false, true]) {
      const { written, shown } = output({ isJson });
      const progress = shown.progress('Checking', 4);
      vi.advanceTimersByTime(1_000);
      progress.update(2);
      vi.advanceTimersByTime(10_000);
      progress.end();
      const lines = written.errors.trim().split('\n');
      expect(lines.map((line) => (isJson ? JSON.parse(line).note : line))).toEqual([
        'Checking: 0 of 4',
        'Checking: 2 of 4',
        'Checking: 2 of 4',
      ]);
    }
  });

  test('says nothing of what ends at once', () => {
    const { written, shown } = output({ isTTY: true });
    const progress = shown.progress('Checking');
    progress.update(1, 1);
    progress.end();
    vi.advanceTimersByTime(60_000);
    expect(written.errors).toBe('');
  });

  test('without a total it counts', () => {
    expect(progressLine({ what: 'Exporting', done: 0, total: undefined })).toBe('Exporting …');
    expect(progressLine({ what: 'Exporting', done: 7, total: undefined })).toBe('Exporting: 7');
    expect(progressLine({ what: 'Exporting', done: 9, total: 4 })).toMatch(/#{24}\] 9 of 4$/);
  });
});

test('colours are for terminals without NO_COLOR, --no-color or --json', () => {
  expect(output({ isTTY: true }).shown.paint('red', 'x')).toBe('\u001b[31mx\u001b[0m');
  for (const given of [{}, { isTTY: true, isJson: true }, { isTTY: true, hasColours: false }])
    expect(output(given).shown.paint('red', 'x')).toBe('x');
  expect(wantsColours({ TERM: 'xterm' }, false)).toBe(true);
  expect(wantsColours({ NO_COLOR: '1' }, false)).toBe(false);
  expect(wantsColours({ TERM: 'dumb' }, false)).toBe(false);
  expect(wantsColours({}, true)).toBe(false);
});

test('a table has columns for people and values for programs, and no control characters of others', () => {
  const rows = [
    { id: 'a', name: 'red \u001b[31m' },
    { id: 'long', name: null },
  ];
  const people = output({});
  people.shown.table(rows, ['id', 'name']);
  expect(people.written.data).toBe('id    name\na     red \ufffd[31m\nlong  -\n');
  const programs = output({ isJson: true });
  programs.shown.table(rows, ['id', 'name']);
  expect(JSON.parse(programs.written.data)).toEqual(rows);
  expect(printable('\u0007x\n')).toBe('\ufffdx\ufffd');
});

test.each([
  ['postgres://user:secret@host/db failed', 'postgres://…@host/db failed'],
  ['postgres://user:se@secret@host/db failed', 'postgres://…@host/db failed'],
  ['Bearer eyJhbGciOiJub25lIn0.secret.secret', 'Bearer …'],
  ['token eyJhbGciOiJub25lIn0.eyJzdWIi.secret-x is old', 'token … is old'],
  ['-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY----- end', '… end'],
  ['-----BEGIN EC PRIVATE KEY-----\nsecret', '…'],
  ['{"kty":"OKP","d":"secret","x":"public"}', '{"kty":"OKP","d":"…","x":"public"}'],
  ['{"password": "secret"}', '{"password": "…"}'],
  ['{"password":"a\\"secret"}', '{"password":"…"}'],
  ['{"newPassword":"secret"}', '{"newPassword":"…"}'],
  ['grant_type=a&code=secret&password=secret', 'grant_type=a&code=…&password=…'],
  ['whsec_c2VjcmV0', 'whsec_…'],
  ['Nothing is known of IBAN GB90SBNK04007598304083.', 'Nothing is known of IBAN GB90SBNK04007598304083.'],
])('an error never shows a secret: %j', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown);
  let written = '';
  const errors = { write: (line: string) => (written += line) };
  for (const isJson of [false, true]) printFailure(failureOf(new Error(text)), errors, isJson);
  expect(written).not.toMatch(/secret|c2VjcmV0/);
});
