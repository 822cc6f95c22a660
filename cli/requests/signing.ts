import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import type { Role } from '../../domain/machine-users/roles.ts';
import { systemErrorCode } from '../common/actionable-error.ts';
import { dataDirectory } from '../common/data-directory.ts';
import { findDevelopmentUser } from '../common/development-users.ts';
import type { Endpoints } from '../common/endpoints.ts';
import type { CommandContext } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import type { ReachedApi } from '../program/reached-world.ts';

/** As whom a command calls the API. */
export interface Caller {
  readonly machineUser: string;
  readonly keyId: string;
  readonly audience: string;
  readonly key: KeyObject;
  readonly algorithm: string;
}

/** A command ends within minutes: a stolen token is worth little. */
const TOKEN_SECONDS = 300;

export function signToken(
  { machineUser, keyId, audience, key, algorithm }: Caller,
  now: Date,
  seconds = TOKEN_SECONDS,
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1_000);
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, kid: keyId })
    .setIssuer(machineUser)
    .setSubject(machineUser)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + seconds)
    .sign(key);
}

/** A development user of the service that was started here: the usual one, or the one of a role. */
export function developmentCaller(
  directory: string,
  service: Pick<Endpoints, 'audience' | 'hasDevelopmentUsers'>,
  role?: Role,
): Caller {
  const { id, keyId, privateKey } = findDevelopmentUser(directory, service, role);
  const key = createPrivateKey({ key: privateKey, format: 'jwk' });
  return { machineUser: id, keyId, audience: service.audience, key, algorithm: algorithmOf(key, '') };
}

/** The caller that the profile or the environment names, or the development user of the service that was started here. */
export async function findCaller(
  reached: ReachedApi,
  { environment }: Pick<CommandContext, 'environment'>,
  role?: Role,
): Promise<Caller> {
  const { profile, started } = reached;
  const { machineUser, keyFile, keyId, audience } = profile.settings;
  if (started !== null && machineUser === undefined && keyFile === undefined) {
    return developmentCaller(dataDirectory(environment), started, role);
  }
  if (machineUser === undefined || keyFile === undefined) {
    throw unusable(
      'No machine user or key file is known: add them by fas profiles add, or set FAS_MACHINE_USER and FAS_KEY_FILE',
    );
  }
  const name = audience ?? started?.audience;
  if (name === undefined) throw unusable('No audience is known: set FAS_AUDIENCE to the AUDIENCE of the service');
  const { key, algorithm } = readPrivateKey(keyFile);
  return { machineUser, keyId: keyId ?? (await thumbprint(key)), audience: name, key, algorithm };
}

function readPrivateKey(file: string): Pick<Caller, 'key' | 'algorithm'> {
  const text = readKeyFile(file);
  try {
    if (!text.startsWith('{')) {
      const key = createPrivateKey(text);
      return { key, algorithm: algorithmOf(key, '') };
    }
    const jwk: unknown = JSON.parse(text);
    if (typeof jwk !== 'object' || jwk === null) throw new Error('not a JWK');
    const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
    return { key, algorithm: algorithmOf(key, 'alg' in jwk ? String(jwk.alg) : '') };
  } catch {
    // The library's message may quote the file.
    throw unusable(`The key file ${file} has no usable private key: it must be PEM or a JWK, of Ed25519, P-256 or RSA`);
  }
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw unusable(`The key file ${file} cannot be read (${systemErrorCode(error) ?? 'unknown'})`);
  }
}

function algorithmOf(key: KeyObject, wanted: string): string {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return 'EdDSA';
    case 'ec':
      return 'ES256';
    case 'rsa':
      return wanted === 'PS256' ? 'PS256' : 'RS256';
    default:
      throw new Error('no algorithm of ours');
  }
}

async function thumbprint(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(createPublicKey(key).export({ format: 'jwk' }), 'sha256');
}

function unusable(message: string): CommandFailure {
  return new CommandFailure('unauthorized', `${message}.`);
}
