import { listMachineUsers } from '../../db/machine-users/machine-users.ts';
import { findPersonById, listPeople, type Person } from '../../db/people/people.ts';
import { listOpenSessions } from '../../db/people/sessions.ts';
import { asId, type PersonId } from '../../domain/common/ids.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import { REGISTRATION_REMEDIES } from '../machine-users/remedies.ts';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { PEOPLE_REMEDIES } from './remedies.ts';

const SHOWN_MAX = 200;

/** Who may do what: machine users, people, and the way to the audit log. */
export const accessPage: Page = {
  path: '/access',
  section: '/access',
  roles: ['admin'],
  async view(context) {
    const { reader } = context.services.database;
    const [machineUsers, people, actions] = await Promise.all([
      listMachineUsers(reader, {}, { size: SHOWN_MAX, offset: 0 }),
      listPeople(reader, SHOWN_MAX),
      actionsOf(context, REGISTRATION_REMEDIES),
    ]);
    return {
      title: 'Who may do what',
      body: (
        <>
          <p>
            <a href="/audit-entries">Audit log</a>: who changed what, when and why
          </p>
          <section class="card">
            <h2>Machine users</h2>
            {actions}
            <ul class="plain">
              {machineUsers.rows.map(({ id, name, roles, status, keys }) => (
                <li>
                  <Id of={name} to={`/machine-users/${id}`} /> <Status of={status} /> {roles.join(', ')},{' '}
                  {keys.filter((key) => key.status === 'active').length} active keys
                </li>
              ))}
            </ul>
            {machineUsers.totalElements > SHOWN_MAX ? (
              <p>
                The first {SHOWN_MAX} of {machineUsers.totalElements}; search for the others by name.
              </p>
            ) : null}
          </section>
          <section class="card">
            <h2>People</h2>
            <ul class="plain">
              {people.map(({ id, name, roles, lastSignedInAt }) => (
                <li>
                  <Id of={name} to={`/people/${id}`} /> {roles.join(', ')}, last signed in{' '}
                  <Instant at={lastSignedInAt} />
                </li>
              ))}
            </ul>
            <p class="quiet">Their roles come from the identity provider at each sign-in.</p>
          </section>
        </>
      ),
    };
  },
};

/** A person: roles, open sessions, and the way to what they did. */
export const personPage: Page = {
  path: '/people/:id',
  section: '/access',
  roles: ['admin'],
  async view(context) {
    const { services, params } = context;
    const person = await findPersonById(services.database.reader, asId<PersonId>(params.id ?? ''));
    if (person === null) return null;
    return {
      title: person.name,
      body: (
        <>
          <Facts person={person} />
          {await sessionsOf(context, person.id)}
          <section class="card">
            <h2>What can be done</h2>
            {await actionsOf(context, PEOPLE_REMEDIES)}
          </section>
        </>
      ),
    };
  },
};

/** The person who is signed in: their roles and sessions. */
export const mePage: Page = {
  path: '/me',
  section: '/',
  async view(context) {
    const { services, person } = context;
    const known = await findPersonById(services.database.reader, person.id);
    if (known === null) return null;
    return {
      title: 'You',
      body: (
        <>
          <Facts person={known} />
          {await sessionsOf(context, person.id)}
        </>
      ),
    };
  },
};

function Facts({ person: { id, name, email, roles, createdAt, lastSignedInAt } }: { readonly person: Person }) {
  return (
    <section class="card">
      <dl>
        <dt>Name</dt>
        <dd>{name}</dd>
        <dt>E-mail address</dt>
        <dd>{email ?? '–'}</dd>
        <dt>Roles at the last sign-in</dt>
        <dd>{roles.join(', ')}</dd>
        <dt>First signed in</dt>
        <dd>
          <Instant at={createdAt} />
        </dd>
        <dt>Last signed in</dt>
        <dd>
          <Instant at={lastSignedInAt} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Id of={id} />
        </dd>
      </dl>
      <p>
        <a href={`/audit-entries?actor=${id}`}>What they did</a> (for administrators)
      </p>
    </section>
  );
}

async function sessionsOf({ services, person }: PageContext, id: PersonId) {
  const sessions = await listOpenSessions(services.database.reader, id, services.now());
  return (
    <section class="card">
      <h2>Open sessions</h2>
      {sessions.length === 0 ? <p>None is open.</p> : null}
      <ul class="plain">
        {sessions.map((session) => (
          <li>
            since <Instant at={session.createdAt} />, last used <Instant at={session.lastSeenAt} />, ends{' '}
            <Instant at={session.endsAt} />
            {session.id === person.sessionId ? ' (this one)' : ''}
          </li>
        ))}
      </ul>
    </section>
  );
}
