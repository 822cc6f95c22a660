import { createKeyring, type Keyring } from '../../db/common/keyring.ts';

/** For processes that tests start; it only ever encrypts test data. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 'a key of tests').toString('base64');

/** The same key, for code in this process. */
export const TEST_KEYRING: Keyring = createKeyring([Buffer.from(TEST_ENCRYPTION_KEY, 'base64')]);
