import { exchangeCode } from '../../db/open-banking/grants.ts';
import type { ThirdPartyProviderRow } from '../../db/third-party-providers/third-party-providers.ts';
import { addressesOf, USED_PROOF, useProof } from '../frame/requests/third-parties/access-tokens.ts';
import { hashOf, newSecret, verifyAssertion } from '../frame/requests/third-parties/assertions.ts';
import { readProof } from '../frame/requests/third-parties/proofs.ts';
import { type OpenAnswer, type OpenRequest, openRoute } from '../frame/route.ts';
import { country } from '../frame/schemas/schemas.ts';
import { COUNTRY } from './consents.ts';
import { idTokenSigner } from './id-tokens.ts';

const FORM = 'application/x-www-form-urlencoded';
/** An assertion of 4 kB, a redirect address of 2 kB with every character escaped, and room. */
const FORM_BYTES_MAX = 16 * 1024;

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const GRANT_TYPE = 'authorization_code';

/** As `newSecret` makes them. */
const CODE = /^[A-Za-z0-9_-]{43}$/;

/** What RFC 6749 has no word for is named as at its authorization endpoint (4.1.2.1). */
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
      'RFC 6749 and RFC 7523: `grant_type=authorization_code`, `code`, `redirect_uri` as in the consent request, `client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer` and `client_assertion`, a JWT that the third-party provider signs as its bearer tokens, with this endpoint’s address or the issuer as `aud`. Answers `access_token`, `token_type`, `expires_in`, `scope` and `id_token`. A code that is sent again revokes the access token that it gave.\n\nWith the header `DPoP`, a proof as RFC 9449 describes it (PS256, ES256 or Ed25519, `htu` this endpoint’s address), the access token is bound to the proof’s key and `token_type` is `DPoP`: every request with it needs a proof of its own. Without, it is `Bearer`, unless the third-party provider has `dpopBoundAccessTokens`. There are no nonces.',
    tag: 'Open banking consents',
    params: { countryCode: country() },
    body: { mediaType: FORM, bytesMax: FORM_BYTES_MAX },
    credential: 'client-assertion',
    errorBodyOf: ({ status, message }) => JSON.stringify({ error: errorOf(status), error_description: message }),
    responses: {
      200: '`access_token`, for an hour at most, and `id_token`',
      400: '`error` and `error_description`: `invalid_request`, `invalid_grant`, `unsupported_grant_type` or `invalid_dpop_proof`',
      401: '`invalid_client`: the client assertion is missing, wrong, too old, or was used before',
      422: '`invalid_request`: a country other than GB',
      503: 'The service cannot answer right now',
    },
  },
  async (request) => {
    if (request.params.countryCode !== COUNTRY) return refused(422, 'invalid_request', 'Consents exist in GB alone.');
    const form = await readForm(request);
    if (form === null) return refused(400, 'invalid_request', `The body is a form, ${FORM}, in UTF-8.`);
    const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1);
    if (repeated !== undefined) return refused(400, 'invalid_request', 'A parameter is given more than once.');
    const thirdParty = await authenticate(request, form);
    if (thirdParty === null) return refused(401, 'invalid_client', 'A valid client assertion is required.');
    const grantType = form.get('grant_type');
    if (grantType === null) return refused(400, 'invalid_request', 'grant_type is required.');
    if (grantType !== GRANT_TYPE) return refused(400, 'unsupported_grant_type', `grant_type must be ${GRANT_TYPE}.`);
    const code = form.get('code');
    const redirectUri = form.get('redirect_uri');
    if (!code) return refused(400, 'invalid_request', 'code is required.');
    if (!redirectUri) return refused(400, 'invalid_request', 'redirect_uri is required.');
    const binding = await readBinding(request, thirdParty);
    return 'status' in binding ? binding : exchange(request, thirdParty, { code, redirectUri, ...binding });
  },
);

/** Null without a valid assertion of an active third party. The code, if there is one, stays good. */
async function authenticate({ services }: OpenRequest, form: URLSearchParams): Promise<ThirdPartyProviderRow | null> {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) return null;
  const { publicUrl } = services.environment;
  const audiences = [`${publicUrl}/open-banking/${COUNTRY}/token`, publicUrl];
  const thirdParty = await verifyAssertion(services, form.get('client_assertion') ?? '', audiences);
  const clientId = form.get('client_id');
  return clientId === null || clientId === thirdParty?.id ? thirdParty : null;
}

interface Binding {
  /** Of the key to which the token will be bound; null for a bearer token. */
  readonly keyThumbprint: string | null;
}

/** Uses up the proof, if there is one; with a refused proof the code stays good. */
async function readBinding(
  { services, headers }: OpenRequest,
  thirdParty: ThirdPartyProviderRow,
): Promise<Binding | OpenAnswer> {
  const { dpop } = headers;
  if (dpop === undefined) {
    if (!thirdParty.dpopBoundAccessTokens) return { keyThumbprint: null };
    return refused(400, 'invalid_request', 'A DPoP proof is required.');
  }
  const addresses = addressesOf(services.environment.publicUrl, `/open-banking/${COUNTRY}/token`);
  const request = { method: 'POST', addresses, accessTokenHash: null };
  const proof = await readProof(dpop, request, { boundTo: null, now: services.now() });
  if ('error' in proof) return refused(400, 'invalid_dpop_proof', proof.description);
  const isUnused = await useProof(services, thirdParty.id, proof);
  return isUnused ? proof : refused(400, 'invalid_dpop_proof', USED_PROOF.description);
}

/** The token leaves only after the commit; if the answer is lost, the code is used up and the account holder is asked anew. */
async function exchange(
  { services, requestId }: OpenRequest,
  thirdParty: ThirdPartyProviderRow,
  { code, redirectUri, keyThumbprint }: Binding & { readonly code: string; readonly redirectUri: string },
): Promise<OpenAnswer> {
  if (!CODE.test(code)) return refusedCode();
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
  if (exchanged.outcome !== 'granted') return refusedCode();
  const { consent, tokenExpiresAt, now } = exchanged;
  return answer(200, {
    access_token: accessToken,
    token_type: keyThumbprint === null ? 'Bearer' : 'DPoP',
    expires_in: Math.floor((tokenExpiresAt.getTime() - now.getTime()) / 1000),
    scope: consent.scope,
    id_token: await sign(consent, { accessToken }),
  });
}

/** The same answer for every code that cannot be exchanged: it must not tell a caller whether the code exists. */
function refusedCode(): OpenAnswer {
  return refused(400, 'invalid_grant', 'The code is not one that can be exchanged with this redirect_uri.');
}

function refused(status: number, error: TokenError, description: string): OpenAnswer {
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
