import { readKeySet } from '../../db/open-banking/signing-keys.ts';
import { openRoute } from '../frame/route.ts';

/** Far shorter than a key is published before it signs. */
const CACHE_SECONDS = 300;

const getKeySet = openRoute(
  {
    method: 'GET',
    path: '/.well-known/jwks.json',
    operationId: 'getKeySet',
    summary: 'The public keys by which this service signs',
    description:
      'A JSON Web Key Set (RFC 7517). A key is published a day before it signs and, once another signs, for a day after.',
    tag: 'Open banking consents',
    responses: { 200: 'The keys, to be cached for minutes.' },
  },
  async ({ services }) => ({
    status: 200,
    body: JSON.stringify({ keys: await readKeySet(services.database, services.keyring) }),
    contentType: 'application/jwk-set+json',
    headers: { 'cache-control': `public, max-age=${CACHE_SECONDS}` },
  }),
);

export const keySetRoutes = [getKeySet];
