import type { ConsentRow } from '../../../../db/open-banking/consents.ts';
import { findGrant } from '../../../../db/open-banking/grants.ts';
import { useAssertion } from '../../../../db/third-party-providers/assertions.ts';
import { findThirdPartyProvider } from '../../../../db/third-party-providers/third-party-providers.ts';
import { rejection } from '../../../../domain/common/errors.ts';
import type { ThirdPartyProviderId } from '../../../../domain/common/ids.ts';
import type { ConsentScope } from '../../../../domain/open-banking/consents.ts';
import { PROOF_ALGORITHMS } from '../../../../domain/open-banking/proofs.ts';
import { HttpRejection } from '../../errors.ts';
import type { Services } from '../../services.ts';
import { hashOf } from './assertions.ts';
import { type Proof, type ProofRejection, readProof, rejected } from './proofs.ts';

/** 32 random bytes in base64url. */
const ACCESS_TOKEN = /^(Bearer|DPoP) ([A-Za-z0-9_-]{43})$/i;

/** The headers of a request with an access token, and what its proof must cover. */
export interface AccessRequest {
  readonly method: string;
  /** Without `/v1`. */
  readonly path: string;
  readonly header: (name: string) => string | undefined;
}

export interface Access {
  readonly grant: ConsentRow;
  /** Records the use of the request's proof; rejects a proof that was used before. */
  readonly useProof: () => Promise<void>;
}

/** The consent of an access token, if its third party is active. A token that is bound to a key needs a proof. */
export async function accessOf(
  { database, environment, now }: Pick<Services, 'database' | 'environment' | 'now'>,
  { method, path, header }: AccessRequest,
): Promise<Access> {
  const authorization = header('authorization');
  const [, scheme = '', token = ''] = ACCESS_TOKEN.exec(authorization ?? '') ?? [];
  const found = token === '' ? null : await findGrant(database.reader, hashOf(token));
  const thirdParty = found && (await findThirdPartyProvider(database.reader, found.consent.thirdPartyProviderId));
  if (found === null || thirdParty?.status !== 'active')
    throw unauthenticated(authorization, 'A valid access token is required.');
  const { consent: grant, keyThumbprint } = found;
  const isBySchemeOfBound = scheme.toLowerCase() === 'dpop';
  if (keyThumbprint === null) {
    if (isBySchemeOfBound)
      throw unauthenticated(authorization, 'The access token is not bound to a key: send it as a Bearer token.');
    if (thirdParty.dpopBoundAccessTokens)
      throw unauthenticated(
        authorization,
        'The third-party provider must use access tokens that are bound to its key.',
      );
    return { grant, useProof: async () => {} };
  }
  if (!isBySchemeOfBound)
    throw unauthenticated(
      authorization,
      'The access token is bound to a key: send it by the scheme DPoP, with a proof.',
    );
  const request = {
    method,
    addresses: addressesOf(environment.publicUrl, path),
    accessTokenHash: hashOf(token).toString('base64url'),
  };
  const proof = await readProof(header('dpop') ?? '', request, { boundTo: keyThumbprint, now: now() });
  if ('error' in proof) throw rejectedProof(proof);
  return {
    grant,
    useProof: async () => {
      if (!(await useProof({ database }, thirdParty.id, proof))) throw rejectedProof(USED_PROOF);
    },
  };
}

export const USED_PROOF = rejected('it was used before');

/** The addresses of one resource; `/v1/…` is an alias. */
export function addressesOf(publicUrl: string, path: string): readonly string[] {
  return [`${publicUrl}${path}`, `${publicUrl}/v1${path}`];
}

/** Records the use of a proof; false if it was used before, on any process. */
export function useProof(
  { database }: Pick<Services, 'database'>,
  thirdPartyProviderId: ThirdPartyProviderId,
  { jtiHash, expiresAt }: Proof,
): Promise<boolean> {
  return database.transaction((tx) => useAssertion(tx, { thirdPartyProviderId, jtiHash, expiresAt }));
}

/** Rejects the token of a consent to something else (RFC 6750, insufficient_scope). */
export function requireScope(grant: ConsentRow, scope: ConsentScope): void {
  if (grant.scope === scope) return;
  const message = `This needs the access token of a consent to ${scope}.`;
  throw rejection('common.security.access_denied', ['consent', 'scope', grant.scope], message);
}

const ALGORITHMS = `algs="${PROOF_ALGORITHMS.join(' ')}"`;

/** RFC 9449, 7.1: the supported schemes, with an error for the one that was used. */
function unauthenticated(authorization: string | undefined, message: string): HttpRejection {
  const code = 'common.security.unauthenticated';
  return new HttpRejection(
    401,
    { code, message, messageParameters: ['header', 'Authorization', ''] },
    { 'www-authenticate': challengeTo(authorization) },
  );
}

function challengeTo(authorization: string | undefined): string {
  if (authorization === undefined) return `Bearer, DPoP ${ALGORITHMS}`;
  const isDpop = /^DPoP\b/i.test(authorization);
  return isDpop ? `DPoP error="invalid_token", ${ALGORITHMS}` : `Bearer error="invalid_token", DPoP ${ALGORITHMS}`;
}

function rejectedProof({ error, description }: ProofRejection): HttpRejection {
  return new HttpRejection(
    401,
    { code: 'common.security.unauthenticated', message: description, messageParameters: ['header', 'DPoP', ''] },
    { 'www-authenticate': `DPoP error="${error}", ${ALGORITHMS}` },
  );
}
