import { sentTextsOf } from '../../domain/outgoing-transfers/requests/sent-texts.ts';

export const PLANNED_TRANSFER_EXAMPLE = {
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  currency: 'GBP',
  amount: 125.5,
  scope: 'external',
  scheme: 'faster-payments',
  description: 'Invoice 2026-117',
  source: { type: 'client-account', accountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02' },
  destination: {
    type: 'beneficiary-bank-account',
    beneficiaryBankAccountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b03',
  },
};

/** What a dry run shows, and every transfer. */
export const DRY_RUN_EXAMPLE = {
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  transferDate: '2026-11-23',
  originalTransferDate: '2026-11-23',
  rollCount: 0,
  cutOffDateTime: null,
  currency: 'GBP',
  amount: 125.5,
  feeCurrency: 'GBP',
  feeAmount: 0,
  totalAmount: 125.5,
  ...sentTextsOf({ description: 'Invoice 2026-117' }),
  scope: 'external',
  scheme: 'faster-payments',
  ownerType: 'client',
  source: { type: 'client-account', accountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02' },
  destination: {
    type: 'beneficiary-bank-account',
    beneficiaryBankAccountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b03',
    beneficiaryId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b05',
  },
  requirementConfiguration: {
    transferDateStatus: 'not-checked',
    complianceCheckStatus: 'not-required',
    balanceCheckStatus: 'not-checked',
    authorizationStatus: 'not-required',
  },
};

export const OUTGOING_TRANSFER_EXAMPLE = {
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b04',
  transactionNumber: '20261121-A7K2QZ',
  paymentReference: '0199c4a05b1e7c3a9d420c2f6f3a1b04',
  status: 'pending',
  statusReason: null,
  ...DRY_RUN_EXAMPLE,
  returned: false,
  incomingTransferId: null,
  serviceProviderId: null,
  serviceProviderReference: null,
};

export const TRANSFER_WITH_BENEFICIARY_EXAMPLE = {
  ...OUTGOING_TRANSFER_EXAMPLE,
  beneficiary: {
    fullName: 'Brook Lane Bakery Ltd',
    identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
    address: null,
    account: {
      accountHolderName: 'Brook Lane Bakery Ltd',
      alias: null,
      ledgerNumber: null,
      accountNumber: '31926819',
      iban: null,
      country: 'GB',
      currency: 'GBP',
      routingCodes: { 'sort-code': '601613' },
    },
    title: null,
  },
  returnedIncomingTransferId: null,
  returnReason: null,
  waitingFor: 'date',
  returningIncomingTransferIds: [],
};

export const BATCH_EXAMPLE = {
  items: [
    { reference: 'payroll-2026-11-0001', outgoingTransfer: PLANNED_TRANSFER_EXAMPLE },
    { reference: 'payroll-2026-11-0002', outgoingTransfer: { ...PLANNED_TRANSFER_EXAMPLE, amount: 80 } },
  ],
};

export const BATCH_RESULTS_EXAMPLE = {
  results: [
    { reference: 'payroll-2026-11-0001', result: 'created', outgoingTransfer: OUTGOING_TRANSFER_EXAMPLE },
    {
      reference: 'payroll-2026-11-0002',
      result: 'rejected',
      error: {
        timestamp: '2026-11-21T09:30:00.123',
        message: 'The bank account is inactive.',
        code: 'beneficiary.bank_account.not_active',
        messageParameters: [
          'outgoingTransfer',
          'destination.beneficiaryBankAccountId',
          '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b03',
        ],
      },
    },
  ],
};
