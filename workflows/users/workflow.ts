import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { SignUpMail, SignUpTransitions } from '../../activities/users/activities.ts';
import { MAIL, TRANSITION } from '../common/policies.ts';
import { reconcileLoop } from '../common/waits.ts';

const { advanceUserInvitation } = proxyLocalActivities<SignUpTransitions>({
  ...TRANSITION,
  summary: 'Advance the invitation',
});
const { recordInvitationMailed } = proxyLocalActivities<SignUpTransitions>({
  ...TRANSITION,
  summary: 'Record that the mail server has accepted the e-mail',
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
