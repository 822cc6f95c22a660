import { expect, test } from 'vitest';
import { COUNTRIES, isCountry, isRegionOf, regionCodes, requiresRegionCode } from './countries.ts';

test('the list is the 249 officially assigned alpha-2 codes, and XK for Kosovo', () => {
  expect(COUNTRIES).toHaveLength(250);
  expect(new Set(COUNTRIES).size).toBe(250);
  for (const code of ['GB', 'DE', 'US', 'SS', 'AX', 'TW', 'XK']) expect(isCountry(code), code).toBe(true);
  for (const code of ['UK', 'EU', 'gb', 'GBR', 'ＧＢ', '', '__proto__']) expect(isCountry(code), code).toBe(false);
});

test('regions of US, CA and MX are their ISO 3166-2 codes, of other countries free text', () => {
  expect(regionCodes('US')).toHaveLength(57);
  expect(regionCodes('CA')).toHaveLength(13);
  expect(regionCodes('MX')).toHaveLength(32);
  expect(isRegionOf('US', 'NY')).toBe(true);
  expect(isRegionOf('US', 'New York')).toBe(false);
  expect(isRegionOf('CA', 'NY')).toBe(false);
  expect(isRegionOf('MX', 'CMX')).toBe(true);
  expect(isRegionOf('MX', 'MX')).toBe(false);
  expect(requiresRegionCode('GB')).toBe(false);
  expect(isRegionOf('GB', 'Greater London')).toBe(true);
});
