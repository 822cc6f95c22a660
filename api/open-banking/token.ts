import { exchangeCode } from '../../db/open-banking/grants.ts';
import type { ThirdPartyProviderRow } from '../../db/third-party-providers/third-party-providers.ts';
import { addressesOf, USED_PROOF, useProof } from '../http/requests/third-parties/access-tokens.ts';
import { hashOf, newSecret, verifyAssertion } from '../http/requests/third-parties/assertions.ts';
import { readProof } from '../http/requests/third-parties/proofs.ts';
import { type OpenAnswer, type OpenRequest, openRoute } from '../http/route.ts';
import { country } from '../http/schemas/schemas.ts';
import { COUNTRY } from './consents.ts';
import { idTokenSigner } from './id-tokens.ts';

const FORM = 'application/x-www-form-urlencoded';
/** An assertion of 4 kB, a redirect address of 2 kB with every character escaped, and a margin. */
const FORM_BYTES_MAX = 16 * 1024;

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const GRANT_TYPE = 'authorization_code';

const FORM_SCHEMA = {
  type: 'object',
  required: ['grant_type', 'code', 'redirect_uri', 'client_assertion_type', 'client_assertion'],
  properties: {
    grant_type: { type: 'string', const: GRANT_TYPE },
    code: { type: 'string' },
    redirect_uri: { type: 'string', format: 'uri' },
    client_assertion_type: { type: 'string', const: ASSERTION_TYPE },
    client_assertion: { type: 'string', description: 'A JWT' },
    client_id: { type: 'string', description: 'If sent, the id of the third-party provider that signs the assertion' },
  },
} as const;

/** As `newSecret` makes them. */
const CODE = /^[A-Za-z0-9_-]{43}$/;

/** Errors that RFC 6749 does not define for this endpoint are named as for its authorization endpoint (4.1.2.1). */
function errorOf(status: number): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_dpop_proof';

const postToken = openRoute(
  {
    method: 'POST',
    path: '/open-banking/{countryCode}/token',
    operationId: 'exchangeConsentCode',
    summary: 'Exchange the code of an approved consent for an access token',
    description:
      'RFC 6749 and RFC 7523: `grant_type=authorization_code`, `code`, `redirect_uri` as in the consent request, `client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer` and `client_assertion`, a JWT that the third-party provider signs like its bearer tokens, with this endpoint’s address or the issuer as `aud`. Returns `access_token`, `token_type`, `expires_in`, `scope` and `id_token`. Sending a code again revokes the access token that was issued for it.\n\nWith a proof in the header `DPoP` (RFC 9449; PS256, ES256 or Ed25519; `htu` is this endpoint’s address), the access token is bound to the proof’s key and `token_type` is `DPoP`: every request with the token needs its own proof. Without a proof, `token_type` is `Bearer`; a third-party provider with `dpopBoundAccessTokens` must send one. Nonces are not used.',
    tag: 'Open banking consents',
    params: { countryCode: country() },
    body: { mediaType: FORM, bytesMax: FORM_BYTES_MAX, schema: FORM_SCHEMA },
    credential: 'client-assertion',
    errorBodyOf: ({ status, message }) => JSON.stringify({ error: errorOf(status), error_description: message }),
    responses: {
      200: '`access_token`, for an hour at most, and `id_token`',
      400: '`error` and `error_description`: `invalid_request`, `invalid_grant`, `unsupported_grant_type` or `invalid_dpop_proof`',
      401: '`invalid_client`: the client assertion is missing, wrong, too old, or was used before',
      422: '`invalid_request`: a country other than GB',
      503: 'The service is temporarily unavailable',
    },
  },
  async (request) => {
    if (request.params.countryCode !== COUNTRY)
      return rejected(422, 'invalid_request', 'Consents are available only in GB.');
    const form = await readForm(request);
    if (form === null) return rejected(400, 'invalid_request', `The body must be a form, ${FORM}, in UTF-8.`);
    const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1);
    if (repeated !== undefined) return rejected(400, 'invalid_request', 'A parameter is given more than once.');
    const thirdParty = await authenticate(request, form);
    if (thirdParty === null) return rejected(401, 'invalid_client', 'A valid client assertion is required.');
    const grantType = form.get('grant_type');
    if (grantType === null) return rejected(400, 'invalid_request', 'grant_type is required.');
    if (grantType !== GRANT_TYPE) return rejected(400, 'unsupported_grant_type', `grant_type must be ${GRANT_TYPE}.`);
    const code = form.get('code');
    const redirectUri = form.get('redirect_uri');
    if (!code) return rejected(400, 'invalid_request', 'code is required.');
    if (!redirectUri) return rejected(400, 'invalid_request', 'redirect_uri is required.');
    const binding = await readBinding(request, thirdParty);
    return 'status' in binding ? binding : exchange(request, thirdParty, { code, redirectUri, ...binding });
  },
);

/** Null without a valid assertion of an active third party. The code, if there is one, remains valid. */
async function authenticate({ services }: OpenRequest, form: URLSearchParams): Promise<ThirdPartyProviderRow | null> {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) return null;
  const { publicUrl } = services.environment;
  const audiences = [`${publicUrl}/open-banking/${COUNTRY}/token`, publicUrl];
  const thirdParty = await verifyAssertion(services, form.get('client_assertion') ?? '', audiences);
  const clientId = form.get('client_id');
  return clientId === null || clientId === thirdParty?.id ? thirdParty : null;
}

interface Binding {
  /** The thumbprint of the key to which the token will be bound; null for a bearer token. */
  readonly keyThumbprint: string | null;
}

/** Uses up the proof, if there is one. If the proof is rejected, the code remains valid. */
async function readBinding(
  { services, headers }: OpenRequest,
  thirdParty: ThirdPartyProviderRow,
): Promise<Binding | OpenAnswer> {
  const { dpop } = headers;
  if (dpop === undefined) {
    if (!thirdParty.dpopBoundAccessTokens) return { keyThumbprint: null };
    return rejected(400, 'invalid_request', 'A DPoP proof is required.');
  }
  const addresses = addressesOf(services.environment.publicUrl, `/open-banking/${COUNTRY}/token`);
  const request = { method: 'POST', addresses, accessTokenHash: null };
  const proof = await readProof(dpop, request, { boundTo: null, now: services.now() });
  if ('error' in proof) return rejected(400, 'invalid_dpop_proof', proof.description);
  const isUnused = await useProof(services, thirdParty.id, proof);
  return isUnused ? proof : rejected(400, 'invalid_dpop_proof', USED_PROOF.description);
}

/** The token is sent only after the commit. If the answer is lost, the code is used up and the account holder must be asked again. */
async function exchange(
  { services, requestId }: OpenRequest,
  thirdParty: ThirdPartyProviderRow,
  { code, redirectUri, keyThumbprint }: Binding & { readonly code: string; readonly redirectUri: string },
): Promise<OpenAnswer> {
  if (!CODE.test(code)) return rejectedCode();
  const accessToken = newSecret();
  const hashes = { codeHash: hashOf(code), tokenHash: hashOf(accessToken) };
  const sign = await idTokenSigner(services);
  const exchanged = await services.database.transaction((tx) =>
    exchangeCode(
      tx,
      { thirdPartyProviderId: thirdParty.id, redirectUri, keyThumbprint, ...hashes },
      { actor: thirdParty.id, requestId },
    ),
  );
  if (exchanged.outcome !== 'granted') return rejectedCode();
  const { consent, tokenExpiresAt, now } = exchanged;
  return answer(200, {
    access_token: accessToken,
    token_type: keyThumbprint === null ? 'Bearer' : 'DPoP',
    expires_in: Math.floor((tokenExpiresAt.getTime() - now.getTime()) / 1000),
    scope: consent.scope,
    id_token: await sign(consent, { accessToken }),
  });
}

/** The same answer for every code that cannot be exchanged: it must not reveal whether the code exists. */
function rejectedCode(): OpenAnswer {
  return rejected(400, 'invalid_grant', 'The code cannot be exchanged with this redirect_uri.');
}

function rejected(status: number, error: TokenError, description: string): OpenAnswer {
  return answer(status, { error, error_description: description });
}

function answer(status: number, body: Readonly<Record<string, unknown>>): OpenAnswer {
  return { status, body: JSON.stringify(body), headers: { pragma: 'no-cache' } };
}

async function readForm({ headers, readBody }: OpenRequest): Promise<URLSearchParams | null> {
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (mediaType !== FORM) return null;
  return new URLSearchParams((await readBody()).toString('utf8'));
}

export const tokenRoutes = [postToken];
