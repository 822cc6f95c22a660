import { TOKEN_ALGORITHMS } from '../../domain/machine-users/machine-users.ts';
import type { ConsentScope } from '../../domain/open-banking/consents.ts';
import { PROOF_ALGORITHMS } from '../../domain/open-banking/proofs.ts';
import type { Route } from '../http/route.ts';
import type { ThirdPartyRoute } from '../http/third-party-route.ts';
import type { Operation, Parameter } from './document.ts';

/** How callers authenticate. */
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
  machineUser: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `A JWT that a machine user signs with its own private key. Its header has \`alg\` (${TOKEN_ALGORITHMS.join(', ')}: that of the registered key), the \`kid\` of the key, and nothing else but \`typ\`. Its claims are \`iss\` = \`sub\` = the id of the machine user; \`aud\`, the audience of this installation, which \`GET /\` shows; \`iat\`; and \`exp\`, at most an hour later. One token serves any number of requests until \`exp\`. The guide [Authenticate](/docs/guides/authenticate) has samples.`,
  },
} as const;

function bearerTokenOf(scope: ConsentScope) {
  const description = `The access token that the token endpoint issues for the code of a consent to ${scope}.`;
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

/** Headers of a route in addition to `Authorization`. */
export function proofParameters(route: Route | ThirdPartyRoute): readonly Parameter[] {
  return route.kind === 'third-party' && route.scope !== null ? [PROOF] : [];
}

const PROOF: Parameter = {
  name: 'DPoP',
  in: 'header',
  description: `Required with an access token that is bound to a key: a proof (RFC 9449, ${PROOF_ALGORITHMS.join(', ')}) for this request, used once and at most a minute old. A repeated request needs a new proof. A rejected proof or token is answered with 401 and \`WWW-Authenticate: DPoP error="invalid_dpop_proof"\` or \`"invalid_token"\`.`,
  schema: { type: 'string' },
};
