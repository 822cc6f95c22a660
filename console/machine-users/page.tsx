import { findMachineUser, type MachineUser } from '../../db/machine-users/machine-users.ts';
import { asId, type MachineUserId } from '../../domain/common/ids.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import type { Page } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { MACHINE_USER_REMEDIES } from './remedies.ts';

/** A machine user: what it may do, and with which keys. */
export const machineUserPage: Page = {
  path: '/machine-users/:id',
  section: '/access',
  roles: ['admin'],
  async view(context) {
    const { services, params } = context;
    const user = await findMachineUser(services.database.reader, asId<MachineUserId>(params.id ?? ''));
    if (user === null) return null;
    return {
      title: `Machine user ${user.name}`,
      body: (
        <>
          <section class="card">
            <h2>
              <Status of={user.status} />
            </h2>
            <dl>
              <dt>Roles</dt>
              <dd>{user.roles.join(', ')}</dd>
              <dt>Since</dt>
              <dd>
                <Instant at={user.createdAt} />
              </dd>
              <dt>Revoked</dt>
              <dd>
                <Instant at={user.revokedAt} />
              </dd>
              <dt>Id</dt>
              <dd>
                <Id of={user.id} />
              </dd>
            </dl>
            <Keys keys={user.keys} />
            <p>
              <a href={`/audit-entries?actor=${user.id}`}>What it did</a>,{' '}
              <a href={`/audit-entries?id=${user.id}`}>what was changed about it</a>
            </p>
          </section>
          <section class="card">
            <h2>What can be done</h2>
            {await actionsOf(context, MACHINE_USER_REMEDIES)}
          </section>
        </>
      ),
    };
  },
};

function Keys({ keys }: { readonly keys: MachineUser['keys'] }) {
  return (
    <>
      <h3>Keys</h3>
      <ul class="plain">
        {keys.map(({ kid, algorithm, status, createdAt }) => (
          <li>
            <Status of={status} /> <span class="id">{kid}</span>, {algorithm}, since <Instant at={createdAt} />
          </li>
        ))}
      </ul>
    </>
  );
}
