import { expect, test } from 'vitest';
import { chooseOffer, findOffer, offerOf, offersScheme, type Provider, type ProviderOffer } from './providers.ts';

const offer: ProviderOffer = {
  currencies: ['GBP'],
  countries: ['GB'],
  defaultCountry: 'GB',
  schemes: ['chaps'],
  bank: null,
};
const anyOther: ProviderOffer = { ...offer, currencies: null, countries: null, schemes: ['swift'] };
const plugIn: Provider = { code: 'plugged', method: 'plug-in', offers: [anyOther] };
const first: Provider = { code: 'first', method: 'built-in', offers: [offer] };
const second: Provider = { code: 'second', method: 'built-in', offers: [offer, anyOther] };

test('an offer for every currency means those that the provider’s other offers do not name', () => {
  expect(findOffer(second, { currency: 'JPY', country: 'JP' })?.offer).toBe(anyOther);
  expect(findOffer(second, { currency: 'GBP', country: 'JP' })).toBeNull();
});

test('implicit choice takes the first built-in provider that offers currency and country, never a plug-in', () => {
  const all = [plugIn, first, second];
  expect(chooseOffer(all, { currency: 'GBP', country: null })).toMatchObject({ provider: first, country: 'GB' });
  expect(chooseOffer(all, { currency: 'JPY', country: 'JP' })).toMatchObject({ provider: second, country: 'JP' });
  expect(chooseOffer([plugIn, first], { currency: 'JPY', country: 'JP' })).toBeNull();
});

test('internal transfers need no offer of a scheme', () => {
  expect(offersScheme(offer, { scheme: null, currency: 'GBP' })).toBe(true);
  expect(offersScheme(offer, { scheme: 'chaps', currency: 'GBP' })).toBe(true);
  expect(offersScheme(offer, { scheme: 'swift', currency: 'GBP' })).toBe(false);
});

test('an account is offered what its own provider offers, and nothing once that is gone', () => {
  const account = { provider: 'second', currency: 'JPY', country: 'JP' };
  expect(offerOf(account, [plugIn, first, second])).toBe(anyOther);
  expect(offerOf({ ...account, currency: 'GBP' }, [plugIn, first, second])).toBeNull();
  expect(offerOf(account, [plugIn, first])).toBeNull();
});
