import { createServer } from 'node:http';
import type { Json } from '../api.ts';

/** A name directory whose answers the test scripts; it counts its queries. */
export interface ScriptedDirectory {
  readonly url: string;
  asked: number;
  /** The next answers. */
  answer: {
    readonly status: number;
    readonly body: Json;
    /** Begins its answer and never ends it. */
    readonly endless?: boolean;
    /** That of the request by default, as schemes have it. */
    readonly requestId?: string;
  };
  close(): Promise<void>;
}

export async function startScriptedDirectory(): Promise<ScriptedDirectory> {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    directory.asked += 1;
    const { status, body, endless = false, requestId = request.headers['x-request-id'] } = directory.answer;
    const headers = {
      'content-type': 'application/json',
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    };
    response.writeHead(status, headers);
    response.write(typeof body === 'string' ? body : JSON.stringify(body));
    if (!endless) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the directory has no port');
  const directory: ScriptedDirectory = {
    url: `http://127.0.0.1:${address.port}`,
    asked: 0,
    answer: { status: 200, body: { reference: 'r', matched: true, reasonCode: null, name: null } },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return directory;
}
