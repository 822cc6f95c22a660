import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type Provider from 'oidc-provider';
import type { Logger } from 'pino';
import type { Bank } from './bank/bank.ts';
import { bankRoutes } from './bank/routes.ts';
import { answer, BankError } from './bank/wire.ts';
import type { SandboxClock } from './clock/clock.ts';
import { clockRoutes } from './clock/routes.ts';
import { directoryRoutes } from './directory/routes.ts';
import type { FileBank } from './file-bank/file-bank.ts';
import { fileBankRoutes } from './file-bank/routes.ts';
import type { SftpServer } from './file-bank/sftp/server.ts';
import { Office } from './front-office/office.ts';
import { frontOfficeRoutes } from './front-office/routes.ts';
import { guard } from './http/guard.ts';
import { IDENTITY_PATH } from './identity/addresses.ts';
import { SANDBOX_PEOPLE } from './identity/people.ts';
import { identityRoutes } from './identity/routes.ts';
import type { Mailbox } from './mail/mailbox.ts';
import { mailRoutes } from './mail/routes.ts';
import { homeRoutes } from './pages/home.ts';
import { readParties } from './service/parties.ts';
import type { ConsentWalkSettings } from './settings.ts';
import { IdTokens } from './third-party/answers.ts';
import { Application } from './third-party/application.ts';
import { thirdPartyRoutes } from './third-party/routes.ts';

type App = Hono<{ Bindings: HttpBindings }>;

/** Stand-ins for the outside world, each under its own path. */
export function sandboxApp(parts: {
  readonly bank: Bank;
  readonly fileBank: FileBank;
  readonly sftp: Pick<SftpServer, 'port' | 'hostKeyFingerprint'>;
  readonly mailbox: Mailbox;
  readonly clock: SandboxClock | null;
  /** Where the company's people sign in; absent: there is no such place. */
  readonly identityProvider?: Provider | null;
  readonly consentWalk: ConsentWalkSettings | null;
  /** Names by which the sandbox is reached, besides those of this machine. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
}): App {
  const app: App = new Hono();
  app.use(guard({ hosts: parts.hosts, formPaths: ['/front-office', '/third-party', IDENTITY_PATH] }));
  app.get('/health/ready', (c) => answer(c, 200, { status: 'ready' }));
  app.route('/bank', bankRoutes(parts.bank));
  app.route('/file-bank', fileBankRoutes(parts.fileBank, parts.sftp));
  app.route('/mail', mailRoutes(parts.mailbox));
  if (parts.clock !== null) app.route('/clock', clockRoutes(parts.clock, [parts.bank, parts.fileBank]));
  app.route('/directory', directoryRoutes(parts.bank));
  if (parts.identityProvider != null) app.route(IDENTITY_PATH, identityRoutes(parts.identityProvider, SANDBOX_PEOPLE));
  if (parts.consentWalk !== null) addConsentWalk(app, parts.consentWalk, parts.logger);
  app.route('/', homeRoutes({ hasClock: parts.clock !== null, hasConsentWalk: parts.consentWalk !== null }));

  app.notFound((c) =>
    answer(c, 404, { error: new BankError(404, 'no-such-path', 'There is nothing at this path.').rejection }),
  );
  app.onError((error, c) => {
    if (error instanceof BankError) return answer(c, error.status, { error: error.rejection });
    parts.logger.error({ error: error.name, method: c.req.method, path: c.req.routePath }, 'request failed');
    const rejection = { category: 'technical', origin: 'provider', code: 'internal', message: 'The sandbox failed.' };
    return answer(c, 500, { error: { ...rejection, attributes: {} } });
  });
  return app;
}

/** A third party, and the front office to which it sends people: two companies, each with its own key. */
function addConsentWalk(
  app: App,
  { partiesFile, redirectUris, ...service }: ConsentWalkSettings,
  logger: Logger,
): void {
  const { frontOffice, thirdParty } = readParties(partiesFile);
  app.route('/front-office', frontOfficeRoutes(new Office(service, frontOffice), logger));
  const application = new Application(service, thirdParty);
  const idTokens = new IdTokens(service, thirdParty.id);
  app.route('/third-party', thirdPartyRoutes({ application, idTokens, redirectUris, logger }));
}
