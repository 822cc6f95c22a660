import { pino } from 'pino';
import { workflowId } from '../../../workflows/common/messages.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../api.ts';
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts';
import { type RunningSandbox, startSandbox, temporaryDirectory } from '../servers/sandbox.ts';
import { startTemporalDevServer } from '../servers/temporal.ts';
import { type Stage, setStage, until } from '../stage.ts';
import { textOf } from '../workflows/histories.ts';

/** An e-mail as the sandbox's mailbox shows it. */
export interface Mail {
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly deliveryCount: number;
}

export interface Answered {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

/** The service with everything that an invitation needs: API, workers, Temporal, a mail server with a mailbox. */
export interface InvitationStage {
  readonly api: TestApi;
  readonly stage: Stage;
  readonly sandbox: RunningSandbox;
  /** Between the workers and the mail server. */
  readonly mailLine: TcpProxy;
  /** Everything that API and workers have logged. */
  log(): string;
  /** Moves the service's clock by an interval of Postgres. */
  setClock(offset: string): void;
  newClientId(legalName?: string): Promise<string>;
  invite(email: string, clientIds: readonly string[], identity?: Json): Promise<ApiResponse>;
  /** Invites, and waits for the e-mail. */
  invited(email: string, clientIds: readonly string[], identity?: Json): Promise<{ invitations: Json[]; link: string }>;
  mailsTo(email: string): Promise<Mail[]>;
  /** The only e-mail to an address, once it has arrived. */
  mailTo(email: string): Promise<Mail>;
  open(link: string, language?: string): Promise<Answered>;
  submit(link: string, form: Readonly<Record<string, string>>): Promise<Answered>;
  statuses(email: string): Promise<string[]>;
  workflowStatus(id: string): Promise<string | undefined>;
  historyText(id: string): Promise<string>;
  close(): Promise<void>;
}

export const GOOD_PASSWORD = 'wandering otters sing';

export async function startInvitations(name: string): Promise<InvitationStage> {
  const temporal = await startTemporalDevServer();
  const directory = temporaryDirectory();
  const sandbox = await startSandbox({ directory: directory.path, callbackUrl: 'http://127.0.0.1:9/unused' });
  const mailLine = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(sandbox.smtpUrl).port) });
  let offset = '0';
  let logged = '';
  const logger = pino(
    { level: 'trace' },
    {
      write: (line: string) => {
        logged += line;
      },
    },
  );
  const addresses = { api: 'http://127.0.0.1:3000' };
  const stage = await setStage({
    name,
    address: temporal.address,
    clockOffset: () => offset,
    relayListens: true,
    smtpUrl: `smtp://127.0.0.1:${mailLine.port}?requireTLS=false`,
    logger,
    get publicUrl() {
      return addresses.api;
    },
  });
  const api = await startApi(stage.testDatabase, {
    clockOffset: () => offset,
    logger,
  });
  addresses.api = api.url;
  stage.relay.start();
  await stage.startWorkers().ready;

  const mailsTo = async (email: string): Promise<Mail[]> => {
    const answer = await fetch(`${sandbox.url}/mail/messages`);
    const { messages }: Json = await answer.json();
    return messages.filter((mail: Mail) => mail.to.toLowerCase() === email.toLowerCase());
  };
  const mailTo = async (email: string): Promise<Mail> => {
    const [mail, ...others] = await until(
      () => mailsTo(email),
      (mails) => mails.length > 0,
    );
    if (mail === undefined || others.length > 0) throw new Error(`${others.length + 1} e-mails to ${email}`);
    return mail;
  };
  const invite = (email: string, clientIds: readonly string[], identity: Json = {}) =>
    api.call('POST', '/users', {
      workflow: { code: 'human.external.invitation' },
      data: {
        user: { email, identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper', ...identity } },
        invitations: clientIds.map((clientId) => ({ clientId, userClientRelation: 'director' })),
      },
    });
  const handleOf = (id: string) => stage.client.workflow.getHandle(workflowId('user-invitation', id));
  return {
    api,
    stage,
    sandbox,
    mailLine,
    log: () => logged + sandbox.output(),
    setClock: (interval) => {
      offset = interval;
    },
    newClientId: async (legalName = 'Brook Lane Bakery Ltd') => {
      const client = {
        identity: { type: 'corporate', legalName },
        profile: { identityType: 'corporate', registrationAddress: { country: 'GB' } },
      };
      const answer = await api.call('POST', '/clients', { workflow: { code: 'direct' }, data: { client } });
      return answer.body.data.client.id;
    },
    invite,
    invited: async (email, clientIds, identity) => {
      const answer = await invite(email, clientIds, identity);
      if (answer.status !== 201) throw new Error(answer.text);
      return { invitations: answer.body.data.invitations, link: linkIn(await mailTo(email)) };
    },
    mailsTo,
    mailTo,
    open: async (link, language = 'en') =>
      answered(await fetch(link, { headers: { 'accept-language': language }, redirect: 'error' })),
    submit: async (link, form) => answered(await fetch(link, { method: 'POST', body: new URLSearchParams(form) })),
    statuses: async (email) => {
      const answer = await api.call('GET', `/users/${encodeURIComponent(email)}/invitations`);
      return answer.body.data.userInvitations.map(({ status }: Json) => status);
    },
    workflowStatus: async (id) =>
      (
        await handleOf(id)
          .describe()
          .catch(() => undefined)
      )?.status.name,
    historyText: async (id) => textOf(await handleOf(id).fetchHistory()),
    close: async () => {
      await api.stop();
      await stage.close();
      await mailLine.close();
      await sandbox.stop();
      await temporal.close();
      directory.remove();
    },
  };
}

/** The sign-up link in an e-mail. */
export function linkIn({ text }: Pick<Mail, 'text'>): string {
  const links = new Set([...text.matchAll(/https?:\/\/\S+/g)].map(([link]) => link));
  const [link, ...others] = links;
  if (link === undefined || others.length > 0) throw new Error(`not one link: ${text}`);
  return link;
}

async function answered(response: Response): Promise<Answered> {
  return { status: response.status, html: await response.text(), headers: response.headers };
}
