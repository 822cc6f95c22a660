import { expect, test } from 'vitest';
import { accountReportOf, openingOutcome } from '../../activities/providers/account-reports.ts';
import type { Provider } from '../../domain/providers/providers.ts';

const POOLED = {
  accountHolderName: 'Safeguarded Clients Ltd',
  accountNumber: '31926819',
  iban: 'GB82WEST12345698765432',
};

const PROVIDERS: readonly Provider[] = ['pooling-bank', 'other-bank'].map((code) => ({
  code,
  method: 'built-in',
  offers: [
    {
      currencies: null,
      countries: null,
      defaultCountry: 'GB',
      schemes: [],
      bank: {
        name: 'Bank plc',
        address: '1 Street, London',
        country: 'GB',
        routingCodes: {},
        intermediary: null,
        pooledAccount: code === 'pooling-bank' ? POOLED : null,
      },
    },
  ],
}));

const OPENED = { reference: 'B-1', country: 'GB', currency: 'GBP', routingCodes: { 'sort-code': '040075' } };
const ACCOUNT_ID = '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31';

test.each([
  ['pooling-bank', POOLED, { iban: null, accountNumber: null }],
  ['pooling-bank', { ...POOLED, iban: 'GB82 WEST 1234 5698 7654 32' }, { iban: null, accountNumber: null }],
  ['pooling-bank', { iban: null, accountNumber: '3192-6819' }, { iban: null, accountNumber: null }],
  ['pooling-bank', { iban: null, accountNumber: '31926827' }, { iban: null, accountNumber: '31926827' }],
  ['other-bank', POOLED, { iban: POOLED.iban, accountNumber: POOLED.accountNumber }],
])('%s: the numbers of a pooled account belong to no account, by answer and by callback', (provider, numbers, own) => {
  const account = { ...OPENED, iban: numbers.iban, accountNumber: numbers.accountNumber };
  const from = { provider, providers: PROVIDERS };
  const outcome = {
    outcome: 'opened',
    reference: 'B-1',
    details: { ...own, country: 'GB', routingCodes: OPENED.routingCodes },
  };
  expect(openingOutcome({ outcome: 'opened', ...account }, from)).toEqual(outcome);
  const event = {
    type: 'account-opened',
    providerEventId: 'e-1',
    occurredAt: new Date(0),
    accountId: ACCOUNT_ID,
    ...account,
  } as const;
  expect(accountReportOf(event, from)).toMatchObject({ accountId: ACCOUNT_ID, outcome });
});
