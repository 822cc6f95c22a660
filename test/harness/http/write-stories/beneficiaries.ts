import { randomUUID } from 'node:crypto';
import type { NameDirectories } from '../../../../activities/providers/directories/directories.ts';
import type { NameDirectory } from '../../../../activities/providers/directories/directory-port.ts';
import type { DirectoryCode } from '../../../../domain/beneficiaries/verifications.ts';
import { BAKERY, DOLLAR, EURO, PERSON, STERLING } from '../../parties/beneficiaries.ts';
import { newClientId } from './parties.ts';
import type { Story } from './story.ts';

export const beneficiaryStory: Story = async (caller) => {
  const { post, patch } = caller;
  const clientId = await newClientId(caller);
  const beneficiary = { clientId, identity: BAKERY, bankAccounts: [STERLING] };
  const { beneficiary: bakery } = await post('/beneficiaries', { beneficiary });
  await post('/beneficiaries', {
    beneficiary: { clientId, fullName: 'Grace Hopper', bankAccounts: [EURO, DOLLAR, STERLING] },
  });
  await post('/beneficiaries', { beneficiary: { ...beneficiary, clientId: randomUUID() } }, { rejected: 404 });
  const path = `/beneficiaries/${bakery.id}`;
  await patch(path, { beneficiary: { identity: { legalName: 'Brook Lane Bakery & Sons Ltd' } } });
  await patch(path, { beneficiary: { contact: { email: 'office@example.com' }, title: 'Messrs' } });
  await patch(path, { beneficiary: { title: 'Messrs' } });
  await patch(path, { beneficiary: { identity: { type: 'individual', givenName: 'Ada' } } }, { rejected: 400 });
  await patch(`/beneficiaries/${randomUUID()}`, { beneficiary: { title: 'Messrs' } }, { rejected: 404 });
  await patch(`/clients/${clientId}`, { client: { status: 'suspended' } }, { as: 'compliance' });
  await post('/beneficiaries', { beneficiary }, { rejected: 422 });
};

export const bankAccountStory: Story = async (caller) => {
  const { post, patch } = caller;
  const clientId = await newClientId(caller);
  const { beneficiary } = await post('/beneficiaries', {
    beneficiary: { clientId, identity: BAKERY, bankAccounts: [STERLING] },
  });
  const path = `/beneficiaries/${beneficiary.id}/bank-accounts`;
  const { beneficiaryBankAccount: euro } = await post(path, { beneficiaryBankAccount: EURO });
  await post(path, { beneficiaryBankAccount: { ...DOLLAR, alias: 'Wages', bankName: 'Chase' } });
  await post(path, { beneficiaryBankAccount: EURO }, { rejected: 400 });
  await post(path, { beneficiaryBankAccount: { ...EURO, iban: 'DE00370400440532013000' } }, { rejected: 400 });
  await post(`/beneficiaries/${randomUUID()}/bank-accounts`, { beneficiaryBankAccount: EURO }, { rejected: 404 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { alias: 'Wages', status: 'inactive' } });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { alias: 'Wages' } });
  await post(path, { beneficiaryBankAccount: EURO });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { status: 'active' } }, { rejected: 400 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { iban: 'DE00370400440532013000' } }, { rejected: 400 });
  await patch(`${path}/${euro.id}`, { beneficiaryBankAccount: { iban: 'DE02120300000000202051' } });
  await patch(`${path}/${randomUUID()}`, { beneficiaryBankAccount: { alias: 'Wages' } }, { rejected: 404 });
};

/** By directory, an account to ask about. */
const ASKED: Readonly<Record<DirectoryCode, object>> = {
  'pay-uk': { accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
  'eu-vop': { iban: 'DE02120300000000202051' },
};

export const verificationStory: Story = async (caller) => {
  const { post, patch } = caller;
  const clientId = await newClientId(caller);
  const ask = async (rejected?: number) => {
    for (const [directory, bankAccount] of Object.entries(ASKED)) {
      const options = { code: `client.${directory}.cop`, ...(rejected === undefined ? {} : { rejected }) };
      const owner = rejected === 404 ? randomUUID() : clientId;
      const beneficiary = { clientId: owner, identity: BAKERY, bankAccount };
      await post('/beneficiary-verifications', { beneficiary }, options);
      if (rejected === undefined) {
        await post('/beneficiary-verifications', { beneficiary: { ...beneficiary, identity: PERSON } }, options);
      }
    }
  };
  await ask();
  await ask(404);
  await patch(`/clients/${clientId}`, { client: { status: 'suspended' } }, { as: 'compliance' });
  await ask(422);
};

const BAKERY_ADAPTER: NameDirectory = {
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
};

/** Directories in this process, in which every account belongs to the bakery. */
export const BAKERY_DIRECTORY: NameDirectories = {
  'pay-uk': new Map([['sandbox-bank', BAKERY_ADAPTER]]),
  'eu-vop': new Map([['sandbox-bank', BAKERY_ADAPTER]]),
};
