import { lockIn } from '../driver/queries/rows.ts';
import { clients } from '../frame/schema.ts';

/**
 * For a change of the client, or of what belongs to it. FOR NO KEY UPDATE: a transaction that writes an account row twice
 * holds a share lock on its client's key. With FOR UPDATE, two such transactions would deadlock here.
 */
export const LOCK_CLIENT = lockIn(clients, 'no key update');

/** For what opens under a client: the client's status cannot change before the transaction ends. */
export const SHARE_CLIENT = lockIn(clients, 'share');
