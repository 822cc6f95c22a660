import { expect, test } from 'vitest';
import { CommandFailure } from '../program/exit-statuses.ts';
import type { ReadEvents } from './event-log.ts';
import { follow } from './follow.ts';

test('a service that goes away while the beginning of the log is looked for is asked again', async () => {
  const away = new CommandFailure('unknown', 'It gave no answer.');
  const rejected = new CommandFailure('rejected', 'They are no longer kept.', { httpStatus: 400 });
  const answers = [rejected, away, rejected, { events: [], nextPosition: 40 }];
  const asked: number[] = [];
  const read: ReadEvents = async (after) => {
    asked.push(after);
    const answer = answers.shift();
    if (answer === undefined || answer instanceof CommandFailure) throw answer ?? new Error('asked too often');
    return answer;
  };
  const notes: string[] = [];
  const ended = new AbortController();
  const pages = follow({ read, position: 5, signal: ended.signal, note: (text) => notes.push(text) });
  expect((await pages.next()).value).toEqual({ events: [], nextPosition: 40 });
  expect(asked).toEqual([5, 0, 5, 0]);
  expect(notes).toContainEqual(expect.stringMatching(/^GAP: the events after position 5, up to 40,/));
  ended.abort();
  expect((await pages.next()).done).toBe(true);
});
