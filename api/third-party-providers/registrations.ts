import { DomainError, type Problem } from '../../domain/common/errors.ts';
import { redirectUriProblem, type ThirdPartyKey } from '../../domain/third-party-providers/third-party-providers.ts';
import { readJwk } from '../http/requests/keys/public-keys.ts';
import type { JwksSent } from './schemas.ts';

const ENTITY = 'thirdPartyProvider';

interface Sent {
  readonly redirectUris?: readonly string[] | undefined;
  readonly jwks?: JwksSent | undefined;
}

type Read<Registration extends Sent> = Omit<Registration, 'jwks'> & {
  readonly jwks: Registration['jwks'] extends JwksSent
    ? { keys: ThirdPartyKey[] }
    : { keys: ThirdPartyKey[] } | undefined;
};

/** Rejects all unsafe addresses and keys together, and reads the public parts of the keys. */
export function readRegistration<Registration extends Sent>(
  registration: Registration,
  policy: { readonly allowLoopback: boolean },
): Read<Registration> {
  const keys = registration.jwks?.keys.map(readKey);
  const problems = [
    ...addressProblems(registration.redirectUris ?? [], policy),
    ...(keys ?? []).flatMap((key, at) => ('problem' in key ? [keyProblem(at, key.kid, key.problem)] : [])),
    ...repeatedKids(registration.jwks),
  ];
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
  const jwks = keys && { keys: keys.flatMap((key) => ('problem' in key ? [] : [key])) };
  // Absent if it was not sent.
  return { ...registration, jwks } as Read<Registration>;
}

type KeySent = JwksSent['keys'][number];

function readKey({ kid, alg, ...parts }: KeySent): ThirdPartyKey | { readonly kid: string; readonly problem: string } {
  const algorithm = parts.kty === 'RSA' ? 'PS256' : 'ES256';
  if (alg !== undefined && alg !== algorithm) return { kid, problem: `is not for ${alg}` };
  const read = readJwk(parts, algorithm);
  if ('problem' in read) return { kid, problem: read.problem };
  const { n = '', e = '', x = '', y = '' } = read.publicKey;
  return algorithm === 'PS256'
    ? { kid, alg: algorithm, kty: 'RSA', n, e }
    : { kid, alg: algorithm, kty: 'EC', crv: 'P-256', x, y };
}

function keyProblem(at: number, kid: string, problem: string): Problem {
  return invalid(`jwks.keys.${at}`, kid, problem);
}

function addressProblems(addresses: readonly string[], policy: { readonly allowLoopback: boolean }): Problem[] {
  return addresses.flatMap((address, at) => {
    const problem = addresses.indexOf(address) < at ? 'must not be named twice' : redirectUriProblem(address, policy);
    return problem === null ? [] : [invalid(`redirectUris.${at}`, '', problem)];
  });
}

function repeatedKids(jwks: JwksSent | undefined): Problem[] {
  const kids = (jwks?.keys ?? []).map(({ kid }) => kid);
  return kids.flatMap((kid, at) =>
    kids.indexOf(kid) < at ? [invalid(`jwks.keys.${at}.kid`, kid, 'must not be used twice')] : [],
  );
}

function invalid(field: string, value: string, problem: string): Problem {
  const message = `data.${ENTITY}.${field} ${problem}.`;
  return { code: 'common.validation.field_invalid', message, messageParameters: [ENTITY, field, value] };
}
