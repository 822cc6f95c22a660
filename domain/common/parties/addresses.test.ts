import { expect, test } from 'vitest';
import { checkAddress } from './addresses.ts';

const place = { entity: 'client', field: 'profile.residentialAddress' };

test('an address needs a country, and a region only in the US, Canada and Mexico', () => {
  expect(checkAddress({ country: 'GB' }, place)).toEqual([]);
  expect(checkAddress({ country: 'GB', region: 'Anything' }, place)).toEqual([]);
  expect(checkAddress({ country: 'US', region: 'NY' }, place)).toEqual([]);
  expect(checkAddress({ country: 'MX', region: 'JAL' }, place)).toEqual([]);
});

test.each([
  [{ country: 'UK' }, 'common.validation.field_invalid', 'profile.residentialAddress.country', 'UK'],
  [{ country: 'US' }, 'common.validation.field_required', 'profile.residentialAddress.region', ''],
  [{ country: 'CA', region: null }, 'common.validation.field_required', 'profile.residentialAddress.region', ''],
  [{ country: 'US', region: 'US-NY' }, 'common.validation.field_invalid', 'profile.residentialAddress.region', 'US-NY'],
  [{ country: 'MX', region: 'JA' }, 'common.validation.field_invalid', 'profile.residentialAddress.region', 'JA'],
])('%j is rejected, naming field and value', (address, code, field, value) => {
  expect(checkAddress(address, place)).toMatchObject([{ code, messageParameters: ['client', field, value] }]);
});
