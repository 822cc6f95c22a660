import { v7 } from 'uuid';
import { asId, type Id } from '../domain/ids.ts';

/** A new UUIDv7: ids made later by one process sort later, so that "creation, then id" is one order. */
export function newId<Branded extends Id<string> = Id<string>>(): Branded {
  return asId<Branded>(v7());
}
