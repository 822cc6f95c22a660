import type { Reader } from '../../../db/query/database.ts';
import { lookUpIn } from '../../../db/query/rows.ts';
import type { FoundRow } from '../../../db/search/search.ts';
import { userInvitations, userSignUps } from '../../../db/users/schema.ts';
import { findUser } from '../../../db/users/users.ts';
import { findWebhookSubscription } from '../../../db/webhooks/subscriptions.ts';
import { asId } from '../../../domain/common/ids.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import type { Explanation } from './explanation.ts';

const STILL = { wait: null, obstacles: [], releasedBy: [], attempts: [], workflowId: null } as const;

/** A row that waits for nothing by itself. */
export function explainStill({ kind, id, status }: FoundRow): Explanation {
  return { ...STILL, resource: kind, id, status: status ?? 'recorded' };
}

export function explainClient(row: FoundRow): Explanation {
  const { id, status } = row;
  if (status === 'active' || status === 'closed' || status === 'declined') return explainStill(row);
  return {
    ...explainStill(row),
    obstacles: [`it is ${status}, so that it opens no account, pays nothing, and money for it is held.`],
    releasedBy: [`PATCH /clients/${id} with data.client.status "active"`],
  };
}

export async function explainUser(reader: Reader, row: FoundRow): Promise<Explanation> {
  const user = await findUser(reader, asId(row.id));
  return {
    ...explainStill(row),
    obstacles: [
      ...(user?.status === 'inactive'
        ? ['it is inactive, so that it cannot sign in, and its consents are revoked.']
        : []),
      ...(user?.passwordHash === null
        ? ['it has no password, because it was made without an invitation: it cannot sign in.']
        : []),
    ],
    releasedBy: user?.status === 'inactive' ? [`PATCH /users/${row.id} with data.user.status "active"`] : [],
  };
}

const INVITATION = lookUpIn(userInvitations);
const SIGN_UP = lookUpIn(userSignUps);

/** An invitation waits for the mail server, then for the invited person. */
export async function explainInvitation(reader: Reader, row: FoundRow): Promise<Explanation> {
  const invitation = await reader.find(INVITATION, row.id);
  const signUp = invitation === null ? null : await reader.find(SIGN_UP, invitation.signUpId);
  if (invitation?.status !== 'pending' || signUp === null) return explainStill(row);
  const { mailedAt, expiresAt, createdAt } = signUp;
  const until = expiresAt.toISOString();
  const path = `/users/${encodeURIComponent(invitation.emailKey)}/invitations/${row.id}`;
  return {
    ...explainStill(row),
    wait: {
      for: mailedAt === null ? 'mail' : 'answer',
      since: (mailedAt ?? createdAt).toISOString(),
      until,
      rule: null,
      untilMeans: `${minuteInUtc(until)}: then its link is worth nothing and the invitation is cancelled; invite the person again.`,
    },
    releasedBy: [
      mailedAt === null
        ? 'the mail server; the service repeats the e-mail until then'
        : 'the invited person, by the link in the e-mail',
      `or end the wait otherwise: PATCH ${path} with data.userInvitation.status "cancelled"`,
    ],
    workflowId: `user-invitation/${signUp.id}`,
  };
}

export async function explainSubscription(reader: Reader, row: FoundRow): Promise<Explanation> {
  const subscription = await findWebhookSubscription(reader, asId(row.id));
  if (subscription === null) return { ...explainStill(row), status: 'deleted' };
  const { id, status, statusReason, failingSince, shard } = subscription;
  const stopped = status === 'active' ? [] : [`it is ${status}: ${STOPPED[statusReason ?? 'caller']}`];
  const failing =
    failingSince === null ? [] : [`nothing was delivered since ${minuteInUtc(failingSince.toISOString())}.`];
  return {
    ...explainStill(row),
    obstacles: [...stopped, ...failing],
    releasedBy: [
      ...(status === 'active'
        ? []
        : [`PATCH /webhook-subscriptions/${id} with data.webhookSubscription.status "active"`]),
      ...(failingSince === null
        ? []
        : [`GET /webhook-deliveries?data.webhookDelivery.subscriptionId=${id} shows what its receiver answers`]),
    ],
    workflowId: `webhook-delivery/${shard}`,
  };
}

const STOPPED = {
  gone: 'its receiver answered 410.',
  failing: 'its receiver accepted nothing for too long.',
  caller: 'its owner has stopped it.',
} as const;
