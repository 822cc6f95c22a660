import { EnvironmentError, readRequired } from '../environment.ts';

const KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Keys for webhook secrets and stored answers: the newest encrypts, older ones only decrypt. Errors never echo them.
 */
export function readEncryptionKeys(env: NodeJS.ProcessEnv): readonly Buffer[] {
  const value = readRequired(env, 'ENCRYPTION_KEY', 'Set it to 32 random bytes in base64 (openssl rand -base64 32).');
  const keys = value.split(',').map((key) => key.trim());
  if (keys.every((key) => KEY.test(key))) return keys.map((key) => Buffer.from(key, 'base64'));
  throw new EnvironmentError(
    'ENCRYPTION_KEY must be 32 bytes in base64, or several of them with commas between, the newest first.',
  );
}
