import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { SignUpMail, SignUpTransitions } from '../../activities/users/activities.ts';
import { MAIL, TRANSITION } from '../frame/policies.ts';
import { reconcileLoop } from '../frame/waits.ts';

const { advanceUserInvitation } = proxyLocalActivities<SignUpTransitions>({
  ...TRANSITION,
  summary: 'Move the invitation as far as its row allows',
});
const { recordInvitationMailed } = proxyLocalActivities<SignUpTransitions>({
  ...TRANSITION,
  summary: 'Record that a mail server has the e-mail',
});
const { sendInvitationMail } = proxyActivities<SignUpMail>({
  ...MAIL,
  summary: 'Hand the e-mail to the mail server',
});

/**
 * One sign-up, by its id: e-mails the invitation, then waits seven days for the answer. Temporal knows the workflow
 * as `user-invitation`.
 */
export function signUp(): Promise<void> {
  return reconcileLoop('user-invitation', advanceUserInvitation, (next, id, { ask }) => {
    switch (next.do) {
      case 'send-mail':
        return ask(
          () => sendInvitationMail(id),
          () => recordInvitationMailed(id),
        );
    }
  });
}
