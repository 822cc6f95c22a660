import type { ConsentScope } from '../../../domain/open-banking/consents.ts';
import { PROOF_ALGORITHMS } from '../../../domain/open-banking/proofs.ts';
import type { Route } from '../route.ts';
import type { ThirdPartyRoute } from '../third-party-route.ts';
import type { Operation, Parameter } from './openapi.ts';

/** How callers come in. */
export const SECURITY_SCHEMES = {
  thirdParty: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A JWT that the third-party provider signs with a registered key (PS256 or ES256, `kid`): `iss` = `sub` = its id, `aud` the audience of this service, `iat`, `exp` at most 5 minutes later, and a `jti` that is used once.',
  },
  accountsConsent: bearerTokenOf('accounts'),
  paymentsConsent: bearerTokenOf('payments'),
  accountsConsentBound: boundTokenOf('accounts'),
  paymentsConsentBound: boundTokenOf('payments'),
  machineUser: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
} as const;

function bearerTokenOf(scope: ConsentScope) {
  const description = `The access token that the token endpoint gives for the code of a consent to ${scope}.`;
  return { type: 'http', scheme: 'bearer', description } as const;
}

function boundTokenOf(scope: ConsentScope) {
  const description = `The access token of a consent to ${scope} that is bound to a key (RFC 9449), with a proof in the header \`DPoP\`.`;
  return { type: 'http', scheme: 'dpop', description } as const;
}

export function securityOf(route: Route | ThirdPartyRoute): Pick<Operation, 'security'> {
  if (route.kind === 'route') return {};
  if (route.scope === null) return { security: [{ thirdParty: [] }] };
  return { security: [{ [`${route.scope}Consent`]: [] }, { [`${route.scope}ConsentBound`]: [] }] };
}

/** What a route takes beside `Authorization`. */
export function proofParameters(route: Route | ThirdPartyRoute): readonly Parameter[] {
  return route.kind === 'third-party' && route.scope !== null ? [PROOF] : [];
}

const PROOF: Parameter = {
  name: 'DPoP',
  in: 'header',
  description: `With an access token that is bound to a key: a proof (RFC 9449, ${PROOF_ALGORITHMS.join(', ')}) of this request, used once and at most a minute old. A repeated request needs a new one. What is refused is 401, with \`WWW-Authenticate: DPoP error="invalid_dpop_proof"\` or \`"invalid_token"\`.`,
  schema: { type: 'string' },
};
