import { createKeyring, type Keyring } from '../../db/frame/keyring.ts';

/** Of processes that tests start; only values of tests are ever encrypted under it. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 'a key of tests').toString('base64');

/** The same key, for what runs in this process. */
export const TEST_KEYRING: Keyring = createKeyring([Buffer.from(TEST_ENCRYPTION_KEY, 'base64')]);
