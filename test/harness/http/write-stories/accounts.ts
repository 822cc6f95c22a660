import { randomInt, randomUUID } from 'node:crypto';
import type { Json } from '../../api.ts';
import { newClientId } from './parties.ts';
import type { Story, StoryCaller } from './story.ts';

const ISSUING = { code: 'client.issuing' };
const PLUG_IN = {
  code: 'client.issuing',
  connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
};
const SUB_ACCOUNT = { code: 'client.sub-account' };
const PATCH = { code: 'client.direct' };
const OPEN = { status: 'active', connection: { state: 'completed-up-to-date', status: 'active' } };

/** A British IBAN that no other account has. */
function newIban(): string {
  const account = `NWBK601613${String(randomInt(100_000_000)).padStart(8, '0')}`;
  const digits = [...`${account}GB00`].map((character) => Number.parseInt(character, 36)).join('');
  return `GB${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`;
}

/** An active plug-in account. */
export async function openedAccountId({ post, patch }: StoryCaller, clientId: string): Promise<string> {
  const { account } = await post('/accounts', { account: { clientId, currency: 'GBP' } }, PLUG_IN);
  await patch(`/accounts/${account.id}`, { account: OPEN }, PATCH);
  return account.id;
}

export const accountStory: Story = async (caller) => {
  const { post, patch } = caller;
  const clientId = await newClientId(caller);
  const wanted = { clientId, currency: 'GBP' };
  const { account } = await post('/accounts', { account: { ...wanted, alias: 'Wages' } }, ISSUING);
  await post('/accounts', { account: { ...wanted, currency: 'EUR', country: 'IE' } }, ISSUING);
  await post('/accounts', { account: { ...wanted, clientId: randomUUID() } }, { ...ISSUING, rejected: 404 });
  const path = `/accounts/${account.id}`;
  await patch(path, { account: { alias: 'Savings' } }, PATCH);
  await patch(path, { account: { alias: null } }, PATCH);
  await patch(path, { account: { iban: newIban() } }, { ...PATCH, rejected: 400 });
  await patch(path, { account: { status: 'closed' } }, { ...PATCH, rejected: 409 });
  await patch(`/accounts/${randomUUID()}`, { account: { alias: 'Savings' } }, { ...PATCH, rejected: 404 });
  await patch(`/clients/${clientId}`, { client: { status: 'suspended' } }, { as: 'compliance' });
  await post('/accounts', { account: wanted }, { ...ISSUING, rejected: 422 });
};

export const plugInAccountStory: Story = async (caller) => {
  const { post, patch, conceal } = caller;
  const clientId = await newClientId(caller);
  const { account } = await post('/accounts', { account: { clientId, currency: 'GBP' } }, PLUG_IN);
  const path = `/accounts/${account.id}`;
  const report = { reference: 'CB-17', state: 'creation-in-progress' };
  await patch(path, { account: { connection: report } }, PATCH);
  await patch(path, { account: { connection: { ...report, id: randomUUID() } } }, { ...PATCH, rejected: 400 });
  // Its client's first account at this provider connects the client too.
  await patch(path, { account: { connection: { state: 'completed-up-to-date', status: 'active' } } }, PATCH);
  const iban = conceal(newIban(), 'iban');
  await patch(path, { account: { ...OPEN, iban } }, PATCH);
  await patch(path, { account: { alias: 'Savings', connection: { reference: 'CB-18' } } }, PATCH);
  await patch(path, { account: { iban: conceal(newIban(), 'another iban') } }, PATCH);
  const other = `/accounts/${await openedAccountId(caller, clientId)}`;
  await patch(other, { account: { iban } }, PATCH);
  // An IBAN belongs to one open account.
  await patch(path, { account: { iban } }, { ...PATCH, rejected: 409 });
  await patch(other, { account: { status: 'closed' } }, PATCH);
  await patch(other, { account: { status: 'active' } }, { ...PATCH, rejected: 409 });
};

export const subAccountStory: Story = async (caller) => {
  const { post, patch } = caller;
  const clientId = await newClientId(caller);
  const pending = (await post('/accounts', { account: { clientId, currency: 'GBP' } }, PLUG_IN)).account.id;
  const ofPending = (await post('/accounts', { account: { mainAccountId: pending } }, SUB_ACCOUNT)).account.id;
  await patch(`/accounts/${pending}`, { account: OPEN }, PATCH);
  const sub = (await post('/accounts', { account: { mainAccountId: pending, alias: 'Savings' } }, SUB_ACCOUNT)).account
    .id;
  await patch(`/accounts/${sub}`, { account: { alias: 'Taxes' } }, PATCH);
  const rejections: readonly [number, Json][] = [
    [422, { mainAccountId: sub }],
    [404, { mainAccountId: randomUUID() }],
    [404, { mainAccountId: pending, clientId: randomUUID() }],
    [422, { mainAccountId: pending, currency: 'EUR' }],
    [422, { mainAccountId: pending, clientId: await newClientId(caller) }],
  ];
  for (const [rejected, account] of rejections) await post('/accounts', { account }, { ...SUB_ACCOUNT, rejected });
  await patch(`/accounts/${pending}`, { account: { status: 'closed' } }, { ...PATCH, rejected: 422 });
  for (const id of [ofPending, sub, pending]) await patch(`/accounts/${id}`, { account: { status: 'closed' } }, PATCH);
};

export const moneyStory: Story = async (caller) => {
  const { post, patch, name } = caller;
  const clientId = await newClientId(caller);
  const [from, to] = [await openedAccountId(caller, clientId), await openedAccountId(caller, clientId)];
  const credit = { accountId: from, amount: 100, currency: 'GBP', scope: 'external', scheme: 'swift' };
  await post('/provisioned-account-credits', { provisionedAccountCredit: credit }, PATCH);
  await patch(`/accounts/${from}`, { account: { status: 'closed' } }, { ...PATCH, rejected: 422 });
  const transfer = (amount: number, accountId: string): Json => ({
    clientId,
    currency: 'GBP',
    amount,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId },
  });
  const items = [transfer(10, to), transfer(20, randomUUID()), transfer(30, to)].map((outgoingTransfer, index) => ({
    reference: `${name}/${index}`,
    outgoingTransfer,
  }));
  await post('/outgoing-transfers/batch', { items }, PATCH);
  await post('/outgoing-transfers/batch', { items }, { ...PATCH, workflow: { mode: 'all' }, rejected: 422 });
  await patch(`/accounts/${to}`, { account: { alias: 'Savings' } }, PATCH);
};
