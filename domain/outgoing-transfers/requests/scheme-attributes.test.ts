import { expect, test } from 'vitest';
import { checkSchemeAttributes } from './scheme-attributes.ts';

const tradeNames = ['Software development'];
const trade = {
  'trade-order-id': 'O-1',
  'trade-time': '29/02/2028',
  'trade-currency': 'CNY',
  'trade-amount': '1000.00',
  'trade-name': 'Bicycles',
  'trade-count': '3',
};
const goods = { ...trade, 'goods-carrier': 'Sea' };
const services = {
  ...trade,
  'trade-name': 'Software development',
  'service-detail': 'Apps',
  'service-time': 'March 2026',
};

function keysRejected(currency: string, reasonCode: string | null, attributes: Record<string, string>): string[] {
  return checkSchemeAttributes(attributes, { currency, reasonCode, tradeNames }).map((problem) => {
    expect(problem.code).toBe('transfer.attribute.invalid');
    return problem.messageParameters[1].replace('schemeAttributes.', '');
  });
}

test('what each currency and reason needs is enough', () => {
  expect(keysRejected('EUR', null, {})).toEqual([]);
  expect(keysRejected('KRW', null, { 'sender-account-number': '123-456' })).toEqual([]);
  expect(keysRejected('CNY', null, trade)).toEqual([]);
  expect(keysRejected('CNY', 'CGODDR', goods)).toEqual([]);
  expect(keysRejected('CNY', 'CSTRDR', services)).toEqual([]);
  expect(keysRejected('CNY', 'CSTRDR', { ...services, cnaps: '102100099996' })).toEqual([]);
});

test('each required key is missed, all at once', () => {
  expect(keysRejected('KRW', null, {})).toEqual(['sender-account-number']);
  expect(keysRejected('CNY', 'CGODDR', {})).toEqual(Object.keys(goods));
  expect(keysRejected('CNY', 'CSTRDR', {})).toEqual(Object.keys(services));
});

test('keys of another currency or reason are rejected', () => {
  expect(keysRejected('EUR', null, { 'trade-count': '1' })).toEqual(['trade-count']);
  expect(keysRejected('CNY', 'CGODDR', { ...goods, 'service-time': 'x' })).toEqual(['service-time']);
  expect(keysRejected('CNY', 'CSTRDR', { ...services, 'goods-carrier': 'x' })).toEqual(['goods-carrier']);
  expect(keysRejected('CNY', null, { ...trade, unknown: 'x' })).toEqual(['unknown']);
  expect(keysRejected('EUR', null, JSON.parse('{"__proto__":"x","constructor":"y"}'))).toEqual([
    '__proto__',
    'constructor',
  ]);
});

test.each([
  ['trade-order-id', 'x'.repeat(33)],
  ['trade-order-id', ''],
  ['trade-time', '2026-01-01'],
  ['trade-time', '31/02/2026'],
  ['trade-time', '12/31/2026'],
  ['trade-currency', 'RMB'],
  ['trade-currency', 'cny'],
  ['trade-amount', '1000'],
  ['trade-amount', '1000.0'],
  ['trade-amount', '1,000.00'],
  ['trade-amount', '-1.00'],
  ['trade-name', 'x'.repeat(129)],
  ['trade-count', '0'],
  ['trade-count', '1.5'],
  ['trade-count', '٣'],
  ['goods-carrier', 'x'.repeat(65)],
  ['cnaps', '12345'],
])('%s %j is rejected', (key, value) => {
  expect(keysRejected('CNY', 'CGODDR', { ...goods, [key]: value })).toEqual([key]);
});

test('trade in services takes its name from the configured list, other trade any', () => {
  expect(keysRejected('CNY', 'CSTRDR', { ...services, 'trade-name': 'Bicycles' })).toEqual(['trade-name']);
  expect(keysRejected('CNY', 'CGODDR', { ...goods, 'trade-name': 'Anything' })).toEqual([]);
});
