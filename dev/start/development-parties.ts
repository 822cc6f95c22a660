import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import * as v from 'valibot';
import { ActionableError } from '../../cli/common/actionable-error.ts';
import { commandInitiator } from '../../cli/common/initiator.ts';
import { newId } from '../../db/common/ids.ts';
import { registerMachineUser } from '../../db/machine-users/machine-users.ts';
import type { Database } from '../../db/query/database.ts';
import { registerThirdPartyProvider } from '../../db/third-party-providers/third-party-providers.ts';
import { asId, type MachineUserId, type ThirdPartyProviderId } from '../../domain/common/ids.ts';
import type { ThirdPartyKey } from '../../domain/third-party-providers/third-party-providers.ts';
import { Parties, type Party, readParties } from '../../sandbox/service/parties.ts';
import { redirectUrisOf } from '../../sandbox/settings.ts';

/** The private keys of the sandbox's front office and third party, which the sandbox reads. */
export function partiesFile(dataDirectory: string): string {
  return join(dataDirectory, 'development-parties.json');
}

/** Creates the two on the first start, and registers them if the database does not know them, or not at this port. */
export async function registerDevelopmentParties(
  database: Database,
  place: { readonly dataDirectory: string; readonly sandboxPort: number },
): Promise<void> {
  const { frontOffice, thirdParty } = await readOrCreateParties(partiesFile(place.dataDirectory));
  const initiator = commandInitiator();
  const { kty, crv, x } = frontOffice.privateKey;
  const machineUser = {
    id: asId<MachineUserId>(frontOffice.id),
    name: 'development-front-office',
    roles: ['operator'] as const,
    kid: frontOffice.keyId,
    algorithm: 'EdDSA' as const,
    publicKey: { kty, crv, x },
  };
  const registration = {
    name: 'Harbour Budget Ltd',
    website: 'https://harbour-budget.example',
    applicationName: 'Harbour Budget',
    applicationDescription: 'Shows all accounts at a glance, and pays from them',
    applicationWebsite: `http://127.0.0.1:${place.sandboxPort}/third-party`,
    redirectUris: redirectUrisOf(place.sandboxPort),
    jwks: { keys: [publicKeyOf(thirdParty)] },
    dpopBoundAccessTokens: true,
  };
  await database.transaction(async (tx) => {
    await registerMachineUser(tx, machineUser, initiator);
    await registerThirdPartyProvider(tx, asId<ThirdPartyProviderId>(thirdParty.id), registration, initiator);
  });
}

async function readOrCreateParties(file: string): Promise<Parties> {
  if (!existsSync(file)) {
    const made = { frontOffice: await newParty('EdDSA'), thirdParty: await newParty('ES256') };
    writeFileSync(`${file}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  try {
    return readParties(file);
  } catch (error) {
    throw new ActionableError(
      `${file} cannot be read as the keys of the sandbox's companies. Remove it, and "npm start" makes new ones.`,
      { cause: error },
    );
  }
}

async function newParty(algorithm: Party['algorithm']): Promise<Party> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const party = { id: newId(), keyId: newId(), algorithm, privateKey: await exportJWK(privateKey) };
  return v.parse(Parties.entries.thirdParty, party);
}

function publicKeyOf({ keyId, privateKey }: Party): ThirdPartyKey {
  const { x, y } = v.parse(v.object({ x: v.string(), y: v.string() }), privateKey);
  return { kid: keyId, alg: 'ES256', kty: 'EC', crv: 'P-256', x, y };
}
