import { and, desc, eq, getTableColumns, gt, isNull, lt, sql } from 'drizzle-orm';
import type { ConsoleSessionId, PersonId } from '../../domain/common/ids.ts';
import { IDLE_MS_MAX, SEEN_EVERY_MS } from '../../domain/people/sessions.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { deleteBatch, sendInsertion } from '../query/rows.ts';
import { type Identity, type Person, recordPerson } from './people.ts';
import { consoleSessions, people } from './schema.ts';

/** Sessions of people. Every instant here is of real time and comes from the caller, never from the service's clock. */
export type Session = typeof consoleSessions.$inferSelect;

const audit = auditorOf('person');

/** What a finished sign-in begins. Hashes are SHA-256. */
export interface NewSession {
  readonly tokenHash: Uint8Array;
  readonly csrfToken: string;
  /** When the person proved who they are. */
  readonly signedInAt: Date;
  readonly endsAt: Date;
  /** The session that the browser had, which ends: no session outlives a sign-in. */
  readonly replacedHash: Uint8Array | null;
}

export interface Begun {
  readonly person: Person;
  readonly sessionId: ConsoleSessionId;
}

/** Records the person and begins their session, in one transaction with its audit entry. */
export async function beginSession(
  tx: Transaction,
  identity: Identity,
  session: NewSession,
  now: Date,
): Promise<Begun> {
  const person = await recordPerson(tx, identity, now);
  const { replacedHash, ...begun } = session;
  if (replacedHash !== null) await tx.run(REVOKE_BY_TOKEN, { tokenHash: replacedHash, now });
  const sessionId = newId<ConsoleSessionId>();
  const roles = [...identity.roles];
  const times = { createdAt: now, lastSeenAt: now };
  sendInsertion(tx, consoleSessions, { ...begun, ...times, id: sessionId, personId: person.id, roles });
  const initiator = { actor: person.id, requestId: null };
  audit(tx, person.id, { initiator, action: 'signed-in', after: { sessionId, roles } });
  return { person, sessionId };
}

const BY_TOKEN = prepared((db, given: Given<{ tokenHash: Uint8Array }>) =>
  db
    .select({ session: getTableColumns(consoleSessions), person: { name: people.name, email: people.email } })
    .from(consoleSessions)
    .innerJoin(people, eq(people.id, consoleSessions.personId))
    .where(eq(consoleSessions.tokenHash, given.tokenHash)),
);

/** Also one that has ended: `isSessionOpen` tells. */
export function findSession(
  reader: Reader,
  tokenHash: Uint8Array,
): Promise<{ readonly session: Session; readonly person: Pick<Person, 'name' | 'email'> } | null> {
  return reader.first(BY_TOKEN, { tokenHash });
}

const SEE = preparedChange((db, given: Given<{ tokenHash: Uint8Array; now: Date; seenBefore: Date }>) =>
  db
    .update(consoleSessions)
    .set({ lastSeenAt: sql`${given.now}` })
    .where(and(eq(consoleSessions.tokenHash, given.tokenHash), lt(consoleSessions.lastSeenAt, given.seenBefore))),
);

/** Notes that the session is used, at most once a minute. */
export async function noteUse(tx: Transaction, tokenHash: Uint8Array, now: Date): Promise<void> {
  await tx.run(SEE, { tokenHash, now, seenBefore: new Date(now.getTime() - SEEN_EVERY_MS) });
}

const REVOKE_BY_TOKEN = preparedChange((db, given: Given<{ tokenHash: Uint8Array; now: Date }>) =>
  db
    .update(consoleSessions)
    .set({ revokedAt: sql`${given.now}` })
    .where(and(eq(consoleSessions.tokenHash, given.tokenHash), isNull(consoleSessions.revokedAt))),
);

const REVOKE = preparedChange((db, given: Given<{ id: ConsoleSessionId; now: Date }>) =>
  db
    .update(consoleSessions)
    .set({ revokedAt: sql`${given.now}` })
    .where(and(eq(consoleSessions.id, given.id), isNull(consoleSessions.revokedAt)))
    .returning({ personId: consoleSessions.personId }),
);

/** Ends a session for good, by its own person (`signed-out`) or another; repeating it changes nothing. False: there is none to end. */
export async function revokeSession(
  tx: Transaction,
  id: ConsoleSessionId,
  initiator: Initiator,
  now: Date,
): Promise<boolean> {
  const revoked = await tx.first(REVOKE, { id, now });
  if (revoked === null) return false;
  const { personId } = revoked;
  const action = initiator.actor === personId ? 'signed-out' : 'session-revoked';
  audit(tx, personId, { initiator, action, before: { sessionId: id } });
  return true;
}

/** Ends all of a person's sessions for good, however many; returns how many were open. */
export async function revokeSessionsOf(
  tx: Transaction,
  personId: PersonId,
  initiator: Initiator,
  now: Date,
): Promise<number> {
  const ended = await tx.statement<{ id: ConsoleSessionId; isOpen: boolean }>(REVOKE_ALL, [
    personId,
    now,
    new Date(now.getTime() - IDLE_MS_MAX),
  ]);
  const open = ended.filter(({ isOpen }) => isOpen);
  for (const { id } of open) audit(tx, personId, { initiator, action: 'session-revoked', before: { sessionId: id } });
  return open.length;
}

// An idle session is ended too: the clocks of two processes may differ.
const REVOKE_ALL = `UPDATE console_sessions SET revoked_at = $2
  WHERE person_id = $1::uuid AND revoked_at IS NULL AND ends_at > $2 RETURNING id, last_seen_at > $3 AS "isOpen"`;

const OPEN = prepared((db, given: Given<{ personId: PersonId; now: Date; seenAfter: Date }>) =>
  db
    .select({
      id: consoleSessions.id,
      roles: consoleSessions.roles,
      signedInAt: consoleSessions.signedInAt,
      createdAt: consoleSessions.createdAt,
      lastSeenAt: consoleSessions.lastSeenAt,
      endsAt: consoleSessions.endsAt,
    })
    .from(consoleSessions)
    .where(
      and(
        eq(consoleSessions.personId, given.personId),
        isNull(consoleSessions.revokedAt),
        gt(consoleSessions.endsAt, given.now),
        gt(consoleSessions.lastSeenAt, given.seenAfter),
      ),
    )
    .orderBy(desc(consoleSessions.createdAt))
    .limit(100),
);

/** The open sessions of a person, the newest first. */
export function listOpenSessions(reader: Reader, personId: PersonId, now: Date) {
  return reader.run(OPEN, { personId, now, seenAfter: new Date(now.getTime() - IDLE_MS_MAX) });
}

/** Deletes a batch of sessions that have ended; returns how many. `now`: real time. */
export function deleteEndedSessions(tx: Transaction, now: Date, batchSize: number): Promise<number> {
  return deleteBatch(tx, consoleSessions, sql`ends_at < ${now}`, batchSize);
}
