import { rejection } from '../../domain/common/errors.ts';
import { TOKEN_ALGORITHMS, type TokenAlgorithm } from '../../domain/machine-users/machine-users.ts';
import { importKey, type JwkParts, problemOf } from '../http/requests/keys/public-keys.ts';
import { named } from '../http/schemas/named.ts';
import { boolean, fields, list, optional, pattern, picklist, text } from '../http/schemas/schemas.ts';
import { secret } from '../http/schemas/secrets.ts';

/** A public key as sent: a JWK, or PEM with `algorithm`. */
export const keySent = named(
  'MachineUserKey',
  fields({
    kid: pattern(/^[A-Za-z0-9_-]{1,128}$/, '1 to 128 of letters, digits, _ and -'),
    algorithm: named('TokenAlgorithm', picklist(TOKEN_ALGORITHMS)),
    jwk: optional(
      named(
        'Jwk',
        fields({
          kty: picklist(['RSA', 'EC', 'OKP']),
          crv: optional(picklist(['P-256', 'Ed25519'])),
          n: optional(base64Url(1_400)),
          e: optional(base64Url(16)),
          x: optional(base64Url(64)),
          y: optional(base64Url(64)),
          kid: optional(text(128)),
          alg: optional(named('TokenAlgorithm', picklist(TOKEN_ALGORITHMS))),
          use: optional(picklist(['sig'])),
          key_ops: optional(list(picklist(['verify']), 0, 1)),
          ext: optional(boolean()),
        }),
      ),
    ),
    pem: optional(
      secret(
        pattern(/^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{1,4000}-----END PUBLIC KEY-----\s*$/, 'a PEM public key'),
      ),
    ),
  }),
);

/** Marked as secret, because a caller may send the private key by mistake. */
export function base64Url(lengthMax: number) {
  return secret(pattern(new RegExp(`^[A-Za-z0-9_-]{1,${lengthMax}}$`), 'base64url text'));
}

interface KeySent {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly jwk?: JwkParts | undefined;
  readonly pem?: string | undefined;
}

/** Reads the key and rejects it if it cannot verify tokens safely. `entity` is the body's key, for the rejection. */
export function readPublicKey(
  sent: KeySent,
  entity: string,
): { kid: string; algorithm: TokenAlgorithm; publicKey: object } {
  const field = sent.jwk === undefined ? 'pem' : 'jwk';
  if ((sent.jwk === undefined) === (sent.pem === undefined)) {
    throw rejection('common.validation.mutually_exclusive', [entity, 'jwk', ''], 'Send the key as either jwk or pem.');
  }
  const key = importKey(sent);
  const problem = key === null ? 'is not a public key' : problemOf(key, sent.algorithm);
  if (key === null || problem !== null) {
    throw rejection(
      'common.validation.field_invalid',
      [entity, field, ''],
      `${entity}.${field} ${problem ?? 'is not a public key'}.`,
    );
  }
  return { kid: sent.kid, algorithm: sent.algorithm, publicKey: key.export({ format: 'jwk' }) };
}
