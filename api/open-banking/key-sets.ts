import { readKeySet } from '../../db/open-banking/signing-keys.ts';
import { openRoute } from '../http/route.ts';

/** Far shorter than the time for which a key is published before it signs. */
const CACHE_SECONDS = 300;

const getKeySet = openRoute(
  {
    method: 'GET',
    path: '/.well-known/jwks.json',
    operationId: 'getKeySet',
    summary: 'Get the public keys that verify this service’s signatures',
    description:
      'A JSON Web Key Set (RFC 7517). A key is published one day before it signs, and for one day after another key has replaced it.',
    tag: 'Open banking consents',
    responses: { 200: 'The keys; they may be cached for minutes.' },
  },
  async ({ services }) => ({
    status: 200,
    body: JSON.stringify({ keys: await readKeySet(services.database, services.keyring) }),
    contentType: 'application/jwk-set+json',
    headers: { 'cache-control': `public, max-age=${CACHE_SECONDS}` },
  }),
);

export const keySetRoutes = [getKeySet];
