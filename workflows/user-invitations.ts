import { defineSignal, proxyActivities, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { OpenWorkReads } from '../activities/open-work.ts';
import type { UserInvitationMail, UserInvitationTransitions } from '../activities/user-invitations.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { MAIL, TRANSITION } from './policies.ts';
import { answerOf, changeOrDeadline, evenIfCancelled, transition } from './waits.ts';

const { advanceUserInvitation } = proxyLocalActivities<UserInvitationTransitions>({
  ...TRANSITION,
  summary: 'Move the invitation as far as its row allows',
});
const { recordInvitationMailed } = proxyLocalActivities<UserInvitationTransitions>({
  ...TRANSITION,
  summary: 'Record that a mail server has the e-mail',
});
const { describeWait } = proxyLocalActivities<OpenWorkReads>({
  ...TRANSITION,
  summary: 'Show what the invitation waits for',
});
const { sendInvitationMail } = proxyActivities<UserInvitationMail>({
  ...MAIL,
  summary: 'Hand the e-mail to the mail server',
});

/** A person was invited: the e-mail goes out, then the answer is waited for, for seven days. */
export async function userInvitation(): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const id = resourceIdOf(workflowInfo().workflowId);
  const advance = () => advanceUserInvitation(id);
  const unanswered = { changed: () => changed, describe: () => describeWait('user-invitation', id) };
  let load = advance;

  await evenIfCancelled(async () => {
    for (;;) {
      changed = false;
      const next = await transition(load);
      load = advance;
      switch (next.do) {
        case 'end':
          if (changed) break;
          return;

        case 'wait':
          await changeOrDeadline(() => changed, next);
          break;

        case 'send-mail': {
          const taken = await answerOf(() => sendInvitationMail(id), unanswered);
          if (taken !== undefined) load = () => recordInvitationMailed(id);
          break;
        }
      }
    }
  });
}
