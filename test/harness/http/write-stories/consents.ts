import { consentWorld } from '../../parties/consents.ts';
import { openedAccountId } from './accounts.ts';
import { newClientId } from './parties.ts';
import type { Story } from './story.ts';

const DIRECT = { code: 'human.external.direct' };

/** A consent ends with the accounts and relations that it depends on. */
export const consentStory: Story = async (caller) => {
  const { api, post, patch, follow, name } = caller;
  const consents = consentWorld(api);
  const clientId = await newClientId(caller);
  const accounts = [await openedAccountId(caller, clientId)];
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
