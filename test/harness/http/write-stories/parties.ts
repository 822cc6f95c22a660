import { randomUUID } from 'node:crypto';
import type { Json } from '../../api.ts';
import type { Story, StoryCaller } from './story.ts';

const ADA = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' };
const GRACE = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
const LONDON = { country: 'GB', city: 'London' };
const BAKERY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd', country: 'GB' };
export const DIRECTOR = { relation: 'director', identity: GRACE };
const SHAREHOLDER = { relation: 'shareholder', identity: { ...GRACE, givenName: 'Vincent' } };

export function person(profile: Json = {}): Json {
  return { identity: ADA, profile: { identityType: 'individual', residentialAddress: LONDON, ...profile } };
}

export function corporate(relations: readonly Json[]): Json {
  return { identity: BAKERY, profile: { identityType: 'corporate', registrationAddress: LONDON }, relations };
}

export async function newClientId({ post }: StoryCaller): Promise<string> {
  return (await post('/clients', { client: person() })).client.id;
}

export const clientStory: Story = async (caller) => {
  const { post, patch, name } = caller;
  const workflow = { createUser: true };
  const client = person({ email: `ada@${name}.example.com`, phone: '+44 20 7946 0000' });
  const { client: ada } = await post('/clients', { client }, { workflow });
  const key = caller.lastKey();
  await post('/clients', { client }, { workflow, key });
  await post('/clients', { client }, { key, rejected: 409 });
  // Another user has the address, so the client is not created either.
  await post('/clients', { client }, { workflow, rejected: 409 });
  await post('/clients', { client: person() }, { workflow, rejected: 400 });
  const path = `/clients/${ada.id}`;
  await patch(path, { client: { identity: { type: 'individual', familyName: 'King' } } });
  await patch(path, { client: { profile: { identityType: 'individual', phone: null } } });
  await patch(path, { client: { identity: { type: 'corporate', legalName: 'Ada Ltd' } } }, { rejected: 400 });
  await patch(path, { client: { status: 'suspended' } }, { as: 'compliance' });
  await patch(path, { client: { status: 'declined' } }, { as: 'compliance', rejected: 409 });
  await patch(path, { client: { status: 'active' } }, { as: 'compliance' });
  await patch(`/clients/${randomUUID()}`, { client: { identity: { type: 'individual' } } }, { rejected: 404 });
};

export const clientRelationStory: Story = async ({ post, patch, remove }) => {
  const { client } = await post('/clients', { client: corporate([DIRECTOR, SHAREHOLDER]) });
  const path = `/clients/${client.id}/relations`;
  const { clientRelation: one } = await post(path, { clientRelation: DIRECTOR });
  await post(path, { clientRelations: [SHAREHOLDER, DIRECTOR, SHAREHOLDER] });
  await post(`/clients/${randomUUID()}/relations`, { clientRelation: DIRECTOR }, { rejected: 404 });
  const { client: ada } = await post('/clients', { client: person() });
  await post(`/clients/${ada.id}/relations`, { clientRelation: DIRECTOR }, { rejected: 400 });
  const change = { relation: 'shareholder', profile: { identityType: 'individual', residentialAddress: LONDON } };
  await patch(`${path}/${one.id}`, { clientRelation: change });
  await patch(`${path}/${one.id}`, { clientRelation: { identity: { familyName: 'Murray' } } });
  await patch(`/clients/${ada.id}/relations/${one.id}`, { clientRelation: change }, { rejected: 404 });
  await remove(`${path}/${one.id}`);
  await remove(`${path}/${one.id}`, { rejected: 404 });
  await remove(`${path}/${client.relations[0].id}`);
};

const DIRECT = { code: 'human.external.direct' };

export const userStory: Story = async (caller) => {
  const { post, patch, name } = caller;
  const clientIds = [await newClientId(caller), await newClientId(caller)];
  const [first, second] = clientIds.map((clientId) => ({ clientId }));
  const email = `grace@${name}.example.com`;
  const user = { email, identity: GRACE };
  const { user: grace, userClientRelations } = await post('/users', { user, userClientRelations: [first] }, DIRECT);
  const { user: other } = await post('/users', { user: { ...user, email: `other@${name}.example.com` } }, DIRECT);
  await post('/users', { user: { ...user, email: `GRACE@${name}.Example.com` } }, { ...DIRECT, rejected: 409 });
  const ofUnknown = [second, { clientId: randomUUID() }];
  const third = { ...user, email: `third@${name}.example.com` };
  await post('/users', { user: third, userClientRelations: ofUnknown }, { ...DIRECT, rejected: 404 });
  await post('/users', { user: third }, DIRECT);

  const path = `/users/${grace.id}`;
  await patch(path, { user: { identity: { familyName: 'Murray' }, profile: { phone: '+44 20 7946 0000' } } }, DIRECT);
  await patch(path, { user: { identity: { familyName: 'Murray' } } }, DIRECT);
  await patch(path, { user: { email: `murray@${name}.example.com` } }, DIRECT);
  await patch(path, { user: { email: other.email } }, { ...DIRECT, rejected: 409 });
  await patch(`/users/${randomUUID()}`, { user: {} }, { ...DIRECT, rejected: 404 });

  await post(`${path}/client-relations`, { userClientRelations: [second] });
  await post(`${path}/client-relations`, { userClientRelations: [second] }, { rejected: 409 });
  await post(`${path}/client-relations`, { userClientRelations: ofUnknown }, { rejected: 404 });
  await post(`/users/${randomUUID()}/client-relations`, { userClientRelations: [second] }, { rejected: 404 });
  const relation = `client-relations/${userClientRelations[0].id}`;
  for (const status of ['revoked', 'revoked', 'allowed'])
    await patch(`${path}/${relation}`, { userClientRelation: { status } });
  await patch(`/users/${other.id}/${relation}`, { userClientRelation: { status: 'revoked' } }, { rejected: 404 });
  for (const status of ['inactive', 'inactive', 'active']) await patch(path, { user: { status } }, DIRECT);
};

const INVITATION = { code: 'human.external.invitation' };

export const invitationStory: Story = async (caller) => {
  const { post, patch, name } = caller;
  const clientIds = [await newClientId(caller), await newClientId(caller)];
  const email = `grace@${name}.example.com`;
  const user = { email, identity: GRACE };
  const invitations = clientIds.map((clientId) => ({ clientId, userClientRelation: 'director' }));
  const { invitations: sent } = await post('/users', { user, invitations }, INVITATION);
  await post('/users', { user, invitations: invitations.slice(1) }, { ...INVITATION, rejected: 409 });
  const unknown = [...invitations, { clientId: randomUUID(), userClientRelation: 'director' }];
  await post('/users', { user, invitations: unknown }, { ...INVITATION, rejected: 404 });
  const path = (id: string) => `/users/${email}/invitations/${id}`;
  const cancelled = { userInvitation: { status: 'cancelled' } };
  await patch(path(sent[0].id), { userInvitation: { status: 'accepted' } }, { rejected: 409 });
  await patch(path(sent[0].id), cancelled);
  await patch(path(sent[0].id), cancelled, { rejected: 409 });
  await patch(path(randomUUID()), cancelled, { rejected: 404 });
  // With its last invitation the sign-up ends.
  await patch(path(sent[1].id), cancelled);
  await post('/users', { user, invitations }, INVITATION);

  const relations = clientIds.map((clientId) => ({ clientId }));
  const { user: grace, userClientRelations } = await post('/users', { user, userClientRelations: relations }, DIRECT);
  // Revoking a relation cancels the invitation for the same client.
  const relation = `/users/${grace.id}/client-relations/${userClientRelations[0].id}`;
  await patch(relation, { userClientRelation: { status: 'revoked' } });
};
