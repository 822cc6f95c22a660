import { randomUUID } from 'node:crypto';
import type { NameDirectories } from '../../../../activities/providers/directories.ts';
import { BAKERY, DOLLAR, EURO, PERSON, STERLING } from '../../parties/beneficiaries.ts';
import { newClientId } from './parties.ts';
import type { Story } from './storyteller.ts';

export const beneficiaryStory: Story = async (teller) => {
  const { post, patch } = teller;
  const clientId = await newClientId(teller);
  const beneficiary = { clientId, identity: BAKERY, bankAccounts: [STERLING] };
  const { beneficiary: bakery } = await post('/beneficiaries', { beneficiary });
  await post('/beneficiaries', {
    beneficiary: { clientId, fullName: 'Grace Hopper', bankAccounts: [EURO, DOLLAR, STERLING] },
  });
  await post('/beneficiaries', { beneficiary: { ...beneficiary, clientId: randomUUID() } }, { refused: 404 });
  const path = `/beneficiaries/${bakery.id}`;
  await patch(path, { beneficiary: { identity: { legalName: 'Brook Lane Bakery & Sons Ltd' } } });
  await patch(path, { beneficiary: { contact: { email: 'office@example.com' }, title: 'Messrs' } });
  await patch(path, { beneficiary: { title: 'Messrs' } });
  await patch(path, { beneficiary: { identity: { type: 'individual', givenName: 'Ada' } } }, { refused: 400 });
  await patch(`/beneficiaries/${randomUUID()}`, { beneficiary: { title: 'Messrs' } }, { refused: 404 });
  await patch(`/clients/${clientId}`, { client: { status: 'suspended' } }, { as: 'compliance' });
  await post('/beneficiaries', { beneficiary }, { refused: 422 });
};

export const bankAccountStory: Story = async (teller) => {
  const { post, patch } = teller;
  const clientId = await newClientId(teller);
  const { beneficiary } = await post('/beneficiaries', {
    beneficiary: { clientId, identity: BAKERY, bankAccounts: [STERLING] },
  });
  const path = `/beneficiaries/${beneficiary.id}/bank-accounts`;
  const { beneficiaryBankAccount: euro } = await post(path, { beneficiaryBankAccount: EURO });
  await post(path, { beneficiaryBankAccount: { ...DOLLAR, alias: 'Wages', bankName: 'Chase' } });
  await post(path, { beneficiaryBankAccount: EURO }, { refused: 400 });
  await post(path, { beneficiaryBankAccount: { ...EURO, iban: 'DE00370400440532013000' } }, { refused: 400 });
  await post(`/beneficiaries/${randomUUID()}/bank-accounts`, { beneficiaryBankAccount: EURO }, { refused: 404 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { alias: 'Wages', status: 'inactive' } });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { alias: 'Wages' } });
  await post(path, { beneficiaryBankAccount: EURO });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { status: 'active' } }, { refused: 400 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { iban: 'DE00370400440532013000' } }, { refused: 400 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { iban: 'DE02120300000000202051' } });
  await patch(`${path}/${randomUUID()}`, { beneficiaryBankAccount: { alias: 'Wages' } }, { refused: 404 });
};

const COP = { code: 'client.pay-uk.cop' };

export const verificationStory: Story = async (teller) => {
  const { post, patch } = teller;
  const clientId = await newClientId(teller);
  const bankAccount = { accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
  const beneficiary = { clientId, identity: BAKERY, bankAccount };
  await post('/beneficiary-verifications', { beneficiary }, COP);
  await post('/beneficiary-verifications', { beneficiary: { ...beneficiary, identity: PERSON } }, COP);
  const ofNobody = { ...beneficiary, clientId: randomUUID() };
  await post('/beneficiary-verifications', { beneficiary: ofNobody }, { ...COP, refused: 404 });
  await patch(`/clients/${clientId}`, { client: { status: 'suspended' } }, { as: 'compliance' });
  await post('/beneficiary-verifications', { beneficiary }, { ...COP, refused: 422 });
};

/** A directory in this process, in which every account belongs to the bakery. */
export const BAKERY_DIRECTORY: NameDirectories = {
  'pay-uk': new Map([
    [
      'sandbox-bank',
      {
        provider: 'sandbox-bank',
        verifyName: async ({ name }) => {
          const matched = name === BAKERY.legalName;
          const close = {
            reason: 'close-match',
            schemeReasonCode: 'MBAM',
            accountHolderName: BAKERY.legalName,
          } as const;
          const match = { reason: null, schemeReasonCode: null, accountHolderName: null };
          return { result: { matched, ...(matched ? match : close) }, reference: 'r' };
        },
      },
    ],
  ]),
};
