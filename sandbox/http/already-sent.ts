import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

/**
 * The answer of a route that has written to the connection, or cut it, itself. The library's constant by itself depends on the order of
 * imports: one that was made after a server of this process takes the server's short way, which writes a second answer.
 */
export function alreadySent(): Response {
  const response = new Response(null, { headers: RESPONSE_ALREADY_SENT.headers });
  // Once its body has been asked for, it no longer takes the short way.
  void response.body;
  return response;
}
