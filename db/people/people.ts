import { desc, eq, sql } from 'drizzle-orm';
import type { PersonId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { people } from './schema.ts';

/** One of the company's people, as their identity provider knows them. */
export type Person = typeof people.$inferSelect;

/** What the identity provider says of a person at a sign-in. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly Role[];
}

type Recorded = Omit<Identity, 'roles'> & { readonly id: PersonId; readonly roles: string; readonly now: Date };

const RECORD = preparedChange((db, given: Given<Recorded>) =>
  db
    .insert(people)
    .values({
      id: given.id,
      issuer: given.issuer,
      subject: given.subject,
      name: given.name,
      email: given.email,
      roles: rolesOf(given.roles),
      createdAt: given.now,
      lastSignedInAt: given.now,
    })
    .onConflictDoUpdate({
      target: [people.issuer, people.subject],
      set: {
        name: sql`excluded.name`,
        email: sql`excluded.email`,
        roles: sql`excluded.roles`,
        lastSignedInAt: sql`excluded.last_signed_in_at`,
      },
    })
    .returning(),
);

/** A list goes to a statement as JSON. */
export function rolesOf(json: Given<{ json: string }>['json']) {
  return sql`ARRAY(SELECT json_array_elements_text(${json}::json))`;
}

/** The person of this issuer and subject, made at the first sign-in; name, e-mail and roles are those of the last. */
export async function recordPerson(tx: Transaction, identity: Identity, now: Date): Promise<Person> {
  const given = { ...identity, id: newId<PersonId>(), roles: JSON.stringify(identity.roles), now };
  const person = await tx.first(RECORD, given);
  if (person === null) throw new Error('a person was not recorded');
  return person;
}

const BY_ID = prepared((db, given: Given<{ id: PersonId }>) => db.select().from(people).where(eq(people.id, given.id)));

export function findPersonById(reader: Reader, id: PersonId): Promise<Person | null> {
  return reader.first(BY_ID, { id });
}

const NEWEST = prepared((db, given: Given<{ size: number }>) =>
  db.select().from(people).orderBy(desc(people.lastSignedInAt), people.id).limit(given.size),
);

/** The people of this installation, those first who signed in last. A company has few. */
export function listPeople(reader: Reader, size: number): Promise<Person[]> {
  return reader.run(NEWEST, { size });
}
