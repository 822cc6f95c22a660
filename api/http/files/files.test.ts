import { expect, test, vi } from 'vitest';
import { type FileEnd, fileBody } from './files.ts';

/** A body that counts what was asked of it. */
function bodyOf(parts: readonly (string | Error)[]) {
  const seen = { asked: 0, isReturned: false, isCut: false, ends: [] as FileEnd[] };
  async function* chunks(): AsyncGenerator<string> {
    try {
      for (const part of parts) {
        seen.asked += 1;
        if (part instanceof Error) throw part;
        yield part;
      }
    } finally {
      seen.isReturned = true;
    }
  }
  const cut = () => {
    seen.isCut = true;
  };
  return { body: fileBody(chunks(), { cut, ended: (how) => seen.ends.push(how) }), seen };
}

test('a part is read only when the caller asks for it', async () => {
  const { body, seen } = bodyOf(['a', 'b', 'c']);
  const reader = body.getReader();
  expect(seen.asked).toBe(0);
  await reader.read();
  await new Promise(setImmediate);
  expect(seen.asked).toBe(1);
  const rest = [await reader.read(), await reader.read(), await reader.read()];
  expect(rest.map(({ done, value }) => (done ? null : new TextDecoder().decode(value)))).toEqual(['b', 'c', null]);
  expect(seen).toMatchObject({ ends: ['complete'], isCut: false, isReturned: true });
});

test('a failure cuts the connection and never ends the body as if it were complete', async () => {
  const failure = new Error('no database');
  const { body, seen } = bodyOf(['a', failure]);
  const reader = body.getReader();
  await reader.read();
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  reader.read().then(settle, settle);
  await vi.waitFor(() => expect(seen).toMatchObject({ ends: [{ failure }], isCut: true }));
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
});

test('a caller that disconnects ends the reading', async () => {
  const { body, seen } = bodyOf(['a', 'b', 'c']);
  const reader = body.getReader();
  await reader.read();
  await reader.cancel();
  expect(seen).toMatchObject({ asked: 1, ends: ['abandoned'], isReturned: true, isCut: false });
});
