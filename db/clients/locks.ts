import { clients } from '../common/schema.ts';
import { lockIn } from '../query/rows.ts';

/**
 * For a change of the client, or of what belongs to it. FOR NO KEY UPDATE: a transaction that writes an account row twice
 * holds a share lock on its client's key, so with FOR UPDATE two such transactions would deadlock.
 */
export const LOCK_CLIENT = lockIn(clients, 'no key update', 'row and parts');

/** For what opens under a client: the client's status cannot change before the transaction ends. */
export const SHARE_CLIENT = lockIn(clients, 'share');
