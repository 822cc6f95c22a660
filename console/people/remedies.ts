import { findPersonById } from '../../db/people/people.ts';
import { listOpenSessions, revokeSessionsOf } from '../../db/people/sessions.ts';
import { asId, type PersonId } from '../../domain/common/ids.ts';
import type { Remedy } from '../remedies/remedy.ts';

const idOf = ({ id }: Readonly<Record<string, string>>) => asId<PersonId>(id ?? '');

/** Sessions end by real time, as they began. */
const endSessions: Remedy = {
  kind: 'end-sessions',
  label: 'End their sessions',
  resource: 'person',
  page: '/people/:id',
  roles: ['admin'],
  movesMoney: false,
  isDangerous: true,
  async preview({ services: { database, now }, params }) {
    const person = await findPersonById(database.reader, idOf(params));
    if (person === null) return null;
    const sessions = await listOpenSessions(database.reader, person.id, now());
    return {
      title: `End the sessions of ${person.name}`,
      consequences: [
        `${sessions.length} open sessions end at once. The person can sign in again, unless the identity provider forbids it: end the account there first.`,
      ],
      ...(sessions.length === 0 ? { unavailable: 'None is open.' } : {}),
    };
  },
  async act({ services: { database, now }, params }, _, initiator) {
    const ended = await database.transaction((tx) => revokeSessionsOf(tx, idOf(params), initiator, now()));
    return ended === 0
      ? { state: 'unchanged', text: 'No session was open.' }
      : { state: 'done', text: `${ended} sessions have ended.` };
  },
};

export const PEOPLE_REMEDIES: readonly Remedy[] = [endSessions];
