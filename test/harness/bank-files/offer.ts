/** What a bank that takes files offers: accounts that share one, and one scheme. */
export const FILES_OFFER = {
  currencies: ['GBP'],
  countries: ['GB'],
  defaultCountry: 'GB',
  schemes: ['faster-payments'],
  bank: {
    name: 'Files Bank plc',
    address: '1 Folder Street, London',
    country: 'GB',
    routingCodes: { 'sort-code': '601613' },
    intermediary: null,
    pooledAccount: { accountHolderName: 'Clients Ltd', accountNumber: '31926819', iban: null },
  },
};
