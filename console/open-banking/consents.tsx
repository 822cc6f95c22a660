import { stringify } from 'lossless-json';
import { countConsents, findShownConsent, listNewestConsents, revokeConsent } from '../../db/open-banking/consents.ts';
import { asId, type ConsentId, isUuid, type UserId } from '../../domain/common/ids.ts';
import { CONSENT_TRANSITIONS } from '../../domain/open-banking/consents.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFound } from '../lists/newest-first.ts';
import { workflowLink } from '../look/links.ts';
import { Id, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import type { Remedy } from '../remedies/remedy.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';

type Consent = NonNullable<Awaited<ReturnType<typeof findShownConsent>>>;

const ofUser = ({ user }: Readonly<Record<string, string>>) => ({
  userId: user === undefined ? undefined : asId<UserId>(user),
});

export const consentList = listPage<Consent>({
  path: '/consents',
  title: 'Consents',
  question: 'Who may see accounts or pay from them, and until when.',
  section: '/consents',
  filters: [
    {
      name: 'user',
      label: 'User id',
      kind: 'text',
      problem: (value) => (isUuid(value) ? null : 'User id is no id: it is a UUID in lower case.'),
    },
  ],
  empty: 'No consent is like this.',
  read: ({ services }, given, slice) =>
    newestFound(slice, (page) => listNewestConsents(services.database.reader, ofUser(given), page)),
  count: ({ services }, given) => countConsents(services.database.reader, ofUser(given), COUNTED_MAX),
  columns: [
    { header: 'Consent', cell: ({ id }) => <Id of={id} to={`/consents/${id}`} />, text: ({ id }) => id },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    { header: 'For', cell: ({ content }) => content.scope, text: ({ content }) => content.scope },
    {
      header: 'Third party',
      cell: ({ thirdPartyProvider }) => thirdPartyProvider.name,
      text: ({ thirdPartyProvider }) => thirdPartyProvider.name,
    },
  ],
});

const revoke: Remedy = {
  kind: 'revoke-consent',
  label: 'Revoke',
  resource: 'consent',
  page: '/consents/:id',
  roles: ['operator'],
  movesMoney: false,
  isDangerous: true,
  async preview({ services: { database }, params }) {
    const consent = await findShownConsent(database.reader, asId<ConsentId>(params.id ?? ''));
    if (consent === null) return null;
    const isOpen = CONSENT_TRANSITIONS[consent.status].includes('revoked');
    return {
      title: `Revoke the consent for ${consent.thirdPartyProvider.name}`,
      consequences: [
        'The third party can use it no more, from this moment on; its tokens end. It cannot be given back: the account holder would have to consent again.',
      ],
      ...(isOpen ? {} : { unavailable: `It is ${consent.status}.` }),
    };
  },
  async act({ services: { database }, params }, _, initiator) {
    await database.transaction((tx) => revokeConsent(tx, asId<ConsentId>(params.id ?? ''), initiator));
    return { state: 'done', text: 'It is revoked.' };
  },
};

export const CONSENT_REMEDIES: readonly Remedy[] = [revoke];

/** A consent: who may do what with which accounts. */
export const consentPage: Page = {
  path: '/consents/:id',
  section: '/consents',
  shows: 'consent',
  async view(context) {
    const { services, params } = context;
    const consent = await findShownConsent(services.database.reader, asId<ConsentId>(params.id ?? ''));
    if (consent === null) return null;
    const workflowId = `consent/${consent.id}`;
    const link = workflowLink(services.settings, workflowId);
    return {
      title: `Consent for ${consent.thirdPartyProvider.name}`,
      body: (
        <>
          <Facts context={context} consent={consent} />
          <section class="card">
            <h2>What can be done</h2>
            {await actionsOf(context, CONSENT_REMEDIES)}
            <p class="quiet">Workflow: {link === null ? workflowId : <a href={link}>{workflowId}</a>}</p>
          </section>
        </>
      ),
    };
  },
};

function Facts({ context: { privacy }, consent }: { readonly context: PageContext; readonly consent: Consent }) {
  const { id, status, content, userId, accounts, thirdPartyProvider, ...times } = consent;
  return (
    <section class="card">
      <h2>
        <Status of={status} />
      </h2>
      <dl>
        <dt>For</dt>
        <dd>{content.scope}</dd>
        <dt>Third party</dt>
        <dd>
          {thirdPartyProvider.name}: {thirdPartyProvider.applicationName}, {thirdPartyProvider.applicationDescription}
        </dd>
        <dt>User</dt>
        <dd class="id">{userId ?? '–'}</dd>
        <dt>Accounts</dt>
        <dd>
          {accounts === null || accounts.length === 0 ? '–' : null}
          <ul class="plain">
            {(accounts ?? []).map((accountId) => (
              <li>
                <Id of={accountId} to={`/accounts/${accountId}`} />
              </li>
            ))}
          </ul>
        </dd>
        <dt>What exactly</dt>
        <dd>{privacy.text(stringify(content) ?? null)}</dd>
        {Object.entries(times).map(([name, instant]) => (
          <>
            <dt>{name}, UTC</dt>
            <dd>{instant ?? '–'}</dd>
          </>
        ))}
        <dt>Id</dt>
        <dd>
          <Id of={id} />
        </dd>
      </dl>
    </section>
  );
}
