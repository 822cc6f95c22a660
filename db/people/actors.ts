import { isUuid } from '../../domain/common/ids.ts';
import type { Reader } from '../query/database.ts';

/** What an actor of the audit log is called, and what it is. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly kind: 'person' | 'machine-user' | 'third-party-provider';
}

const NAMES = `
  SELECT id, name, 'person' AS kind FROM people WHERE id = ANY ($1::uuid[])
  UNION ALL SELECT id, name, 'machine-user' FROM machine_users WHERE id = ANY ($1::uuid[])
  UNION ALL SELECT id, name, 'third-party-provider' FROM third_party_providers WHERE id = ANY ($1::uuid[])`;

/** Those of the actors that are people, machine users or third parties, by their ids; a command's actor is its own name. */
export async function readActors(
  reader: Reader,
  actors: readonly (string | null)[],
): Promise<ReadonlyMap<string, Actor>> {
  const ids = [...new Set(actors.filter((actor): actor is string => actor !== null && isUuid(actor)))];
  if (ids.length === 0) return new Map();
  const found = await reader.statement<Actor>(NAMES, [ids]);
  return new Map(found.map((actor) => [actor.id, actor]));
}
