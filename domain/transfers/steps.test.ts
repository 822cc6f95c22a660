import { expect, test } from 'vitest';
import { INCOMING_TRANSFER_TRANSITIONS } from '../incoming-transfers/incoming-transfers.ts';
import { OUTGOING_TRANSFER_TRANSITIONS } from '../outgoing-transfers/statuses.ts';
import { otherEndsOf, stepsOf } from './steps.ts';

const at = (second: number) => new Date(Date.UTC(2027, 5, 16, 12, 0, second));
const placesOf = (steps: ReturnType<typeof stepsOf>) => steps.map(({ status, place }) => `${place} ${status}`);

test('a transfer’s steps are those that its events report, each once, then the way to completion', () => {
  const events = [
    { status: 'pending', at: at(1) },
    { status: 'pending', at: at(2) },
    { status: 'processing', at: at(3) },
  ];
  const steps = stepsOf(OUTGOING_TRANSFER_TRANSITIONS, { events, present: 'processing', goal: 'completed' });
  expect(steps).toEqual([
    { status: 'pending', place: 'done', at: at(1) },
    { status: 'processing', place: 'present', at: at(3) },
    { status: 'released', place: 'ahead', at: null },
    { status: 'completed', place: 'ahead', at: null },
  ]);
  expect(otherEndsOf(OUTGOING_TRANSFER_TRANSITIONS, 'pending', 'completed')).toEqual(['cancelled', 'failed']);
});

test('an end has nothing ahead; a status whose event is not kept has no time', () => {
  const events = [{ status: 'pending', at: at(1) }];
  const failed = stepsOf(OUTGOING_TRANSFER_TRANSITIONS, { events, present: 'failed', goal: 'completed' });
  expect(placesOf(failed)).toEqual(['done pending', 'present failed']);
  expect(failed.at(-1)?.at).toBeNull();
  const unknown = stepsOf(OUTGOING_TRANSFER_TRANSITIONS, { events: [], present: 'released', goal: 'completed' });
  expect(placesOf(unknown)).toEqual(['present released', 'ahead completed']);
});

test('money on hold goes to its account directly', () => {
  const events = [{ status: 'on-hold', at: at(1) }];
  const steps = stepsOf(INCOMING_TRANSFER_TRANSITIONS, { events, present: 'on-hold', goal: 'completed' });
  expect(placesOf(steps)).toEqual(['present on-hold', 'ahead completed']);
});
