import { expect, test } from 'vitest';
import { isUuid } from '../../common/ids.ts';
import { COUNTRIES } from '../../common/parties/countries.ts';
import { findTransferReason, TRADE_IN_GOODS, TRADE_IN_SERVICES, transferReasons } from './transfer-reasons.ts';

const all = COUNTRIES.flatMap((country) => transferReasons(country));

test('China has the two reasons that scheme attributes depend on, worded as the interface words them', () => {
  const china = Object.fromEntries(transferReasons('CN').map(({ code, description }) => [code, description]));
  expect(china[TRADE_IN_SERVICES]).toBe('Trade Settlement for Services');
  expect(china[TRADE_IN_GOODS]).toBe('Trade Settlement for Goods');
});

test('countries that ask for no reason have an empty list', () => {
  for (const country of ['GB', 'DE', 'US', 'constructor']) expect(transferReasons(country), country).toEqual([]);
  for (const country of ['CN', 'IN', 'KR', 'AE']) expect(transferReasons(country).length).toBeGreaterThan(3);
});

test('ids are unique UUIDs that find their reason', () => {
  expect(new Set(all.map((reason) => reason.id)).size).toBe(all.length);
  for (const reason of all) {
    expect(isUuid(reason.id)).toBe(true);
    expect(findTransferReason(reason.id)).toBe(reason);
  }
  expect(findTransferReason('00000000-0000-0000-0000-000000000000')).toBeNull();
  expect(findTransferReason('__proto__')).toBeNull();
});

test('ids stay what callers have stored', () => {
  expect(findTransferReason('22a44cc8-b2c6-555a-87be-ad49f61e0340')?.code).toBe(TRADE_IN_GOODS);
  expect(findTransferReason('7395e134-ce11-502f-98e0-e4a6de9fa341')).toMatchObject({ country: 'AE', code: 'FAM' });
});
