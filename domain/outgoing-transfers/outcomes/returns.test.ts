import { expect, test } from 'vitest';
import { draw, PAYER, returnedInPart } from '../../../test/harness/workflows/returned-payment.ts';
import { decideAdoption } from '../changes.ts';
import { decideLookedUpReturns, decideLookUp } from '../look-ups.ts';
import type { LookedUpPayment } from '../reports.ts';

const { currency, provider } = PAYER;

/** A provider's answer with these returns, oldest first. */
function found(...returns: readonly (readonly [reference: string, amountMinor: string])[]): LookedUpPayment {
  const all = returns.map(([reference, amountMinor]) => ({ reference, amountMinor, code: 'AC06' }));
  const { code, ...last } = all.at(-1) ?? { reference: '', amountMinor: '0', code: null };
  return {
    outcome: 'returned',
    serviceProviderId: 'p-1',
    serviceProviderReference: null,
    code,
    claim: { amountMinor: '10000', currency, returned: last },
    returnsBefore: all.slice(0, -1),
  };
}

const OTHER_THAN_BOOKED = found(['first', '2900'], ['second', '1000'], ['third', '2000']);
const AS_BOOKED = found(['first', '3000'], ['second', '1000'], ['third', '2000']);

const DECISIONS = {
  'a look-up': (answer: LookedUpPayment) => decideLookUp(returnedInPart('completed'), 0, answer, draw),
  'an operator’s look-up': (answer: LookedUpPayment) =>
    decideLookedUpReturns(returnedInPart('completed'), answer, draw),
  'an adoption': (answer: LookedUpPayment) => decideAdoption(returnedInPart('completed'), provider, answer, draw),
};

test.each(Object.entries(DECISIONS))(
  '%s that has another amount of a booked return than is booked is a break, and books the new returns',
  (_, decide) => {
    for (const [answer, expected] of [
      [OTHER_THAN_BOOKED, 'break'],
      [AS_BOOKED, 'applied'],
    ] as const) {
      const { changes, outcome } = decide(answer);
      expect(outcome).toBe(expected);
      expect(changes.flatMap(({ incoming }) => incoming?.after.amountMinor ?? [])).toEqual([1_000n, 2_000n]);
      expect(changes.at(-1)?.outgoing?.after.returnedMinor).toBe(6_000n);
    }
  },
);
