import { createHash, randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/query/database.ts';
import { advanceSignUp, recordInvitationMailed } from '../../db/users/invitations.ts';
import { createSignUpLink, deleteSignUpLink } from '../../db/users/sign-ups.ts';
import { asId, type UserSignUpId } from '../../domain/common/ids.ts';
import type { WithWait } from '../../domain/common/waits.ts';
import type { SignUpStep } from '../../domain/users/invitations.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from '../common/open-work.ts';
import { invitationMail } from './invitation-mail.ts';
import { MailNotTaken, sendMail } from './mail.ts';
import { passwordMail } from './password-mail.ts';

export type SignUpNext = WithWait<SignUpStep>;

export type SignUpTransitions = ReturnType<typeof signUpTransitions>;
export type SignUpMail = ReturnType<typeof signUpMail>;

export function signUpTransitions({ database, logger }: ActivityDependencies) {
  function next(id: string, step: (tx: Transaction) => Promise<SignUpStep>): Promise<SignUpNext> {
    return endWhenGone(logger, id, () =>
      database.transaction(async (tx) => withWait(tx, 'user-invitation', id, await step(tx)), TRANSITION_LIMITS),
    );
  }
  return {
    async advanceUserInvitation(id: string): Promise<SignUpNext> {
      return next(id, (tx) => advanceSignUp(tx, asId<UserSignUpId>(id)));
    },
    async recordInvitationMailed(id: string): Promise<SignUpNext> {
      return next(id, (tx) => recordInvitationMailed(tx, asId<UserSignUpId>(id)));
    },
  };
}

const TOKEN_BYTES = 32;

export function signUpMail(dependencies: ActivityDependencies) {
  const { database, mail, publicUrl } = dependencies;
  return {
    /**
     * True once a mail server has the e-mail, or it is no longer needed. Resent after an unknown outcome it carries
     * the same Message-ID, so that mailboxes show it once; both links work.
     */
    async sendInvitationMail(id: string): Promise<boolean> {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const tokenHash = createHash('sha256').update(token).digest();
      return whileHeartbeating(async (signal) => {
        const signUp = await database.transaction((tx) => createSignUpLink(tx, asId<UserSignUpId>(id), tokenHash));
        if (signUp === null) return true;
        const write = signUp.signUp.kind === 'password-reset' ? passwordMail : invitationMail;
        const email = write(signUp, `${publicUrl}/sign-up/${token}`);
        try {
          await sendMail(mail, { ...email, id, to: signUp.signUp.email, date: signUp.signUp.createdAt }, signal);
        } catch (error) {
          if (error instanceof MailNotTaken && error.forCertain) {
            await database.transaction((tx) => deleteSignUpLink(tx, tokenHash));
          }
          throw error;
        }
        return true;
      });
    },
  };
}
