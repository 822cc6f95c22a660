import { consentWorld } from '../../parties/consents.ts';
import { openedAccountId } from './accounts.ts';
import { newClientId } from './parties.ts';
import type { Story } from './storyteller.ts';

const DIRECT = { code: 'human.external.direct' };

/** What a user has consented to ends with what it rests on. */
export const consentStory: Story = async (teller) => {
  const { api, post, patch, follow, name } = teller;
  const consents = consentWorld(api);
  const clientId = await newClientId(teller);
  const accounts = [await openedAccountId(teller, clientId)];
  const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
  const user = { email: `grace@${name}.example.com`, identity };
  const made = await post('/users', { user, userClientRelations: [{ clientId }] }, DIRECT);
  const userId = made.user.id;
  const thirdPartyId = await consents.thirdParty();
  const approve = async () => {
    const { id } = await consents.request(thirdPartyId);
    await patch(`/open-banking/GB/consents/${follow(id)}`, { consent: { action: 'approve', userId, accounts } });
  };
  for (const consent of [approve, approve]) await consent();
  const relation = `/users/${userId}/client-relations/${made.userClientRelations[0].id}`;
  await patch(relation, { userClientRelation: { status: 'revoked' } });
  await patch(relation, { userClientRelation: { status: 'allowed' } });
  await approve();
  await patch(`/users/${userId}`, { user: { status: 'inactive' } }, DIRECT);
};
