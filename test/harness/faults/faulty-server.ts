import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface WireAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestBody: string;
  readonly answer: WireAnswer;
}

/** Replaces a request's answer. `forward` gets the real server's answer. */
export type Fault = (forward: () => Promise<WireAnswer>, response: ServerResponse) => Promise<void>;

/** A proxy before an HTTP server that passes everything on unless a fault is set. */
export interface FaultyServer {
  readonly url: string;
  /** The real server's answers, in order. */
  readonly exchanges: readonly Exchange[];
  /** Applies the fault to every request that arrives while `work` runs. */
  during<Result>(fault: Fault, work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export async function startFaultyServer(target: string): Promise<FaultyServer> {
  const exchanges: Exchange[] = [];
  let current: Fault = passThrough;
  const server = createServer(async (request, response) => {
    const requestBody = await bodyOf(request);
    const forward = async (): Promise<WireAnswer> => {
      const { method = 'GET', url: path = '/' } = request;
      const answer = await fetch(target + path, {
        method,
        redirect: 'manual',
        headers: passedOn(
          new Headers(
            Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
            ),
          ),
        ),
        ...(requestBody === '' ? {} : { body: requestBody }),
      }).then(async (answered) => ({
        status: answered.status,
        body: await answered.text(),
        headers: passedOn(answered.headers),
      }));
      exchanges.push({ method, path, requestBody, answer });
      return answer;
    };
    // If the real server cuts the connection or is down, this one cuts it too.
    await current(forward, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    exchanges,
    during: async (fault, work) => {
      current = fault;
      try {
        return await work();
      } finally {
        current = passThrough;
      }
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Of a connection, and not of what it carries. */
const OF_CONNECTION = ['connection', 'content-encoding', 'content-length', 'host', 'keep-alive', 'transfer-encoding'];

function passedOn(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_CONNECTION.includes(name)));
}

function send(response: ServerResponse, { status, body, headers }: WireAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export const passThrough: Fault = async (forward, response) => send(response, await forward());

/** A gateway answers: the real server never sees the request. */
export function answered(answer: WireAnswer): Fault {
  return async (_forward, response) => send(response, answer);
}

/** Changes the real server's answer on its way to the client. */
export function changed(change: (body: string) => string): Fault {
  return async (forward, response) => {
    const answer = await forward();
    send(response, { ...answer, body: change(answer.body) });
  };
}

/** A proxy that repeats the request: the caller gets the second answer. */
export const doubled: Fault = async (forward, response) => {
  await forward();
  send(response, await forward());
};

/** One fault for each request, and none for those after the last. */
export function inTurn(...faults: readonly Fault[]): Fault {
  const left = [...faults];
  return (forward, response) => (left.shift() ?? passThrough)(forward, response);
}

/** The request takes effect, but its answer never comes. */
export const silentAfter: Fault = async (forward) => {
  await forward();
};

export const cutBefore: Fault = async (_forward, response) => {
  response.destroy();
};

/** The request takes effect, but its answer is lost. */
export const cutAfter: Fault = async (forward, response) => {
  await forward();
  response.destroy();
};

export const cutWithin: Fault = async (forward, response) => {
  const { status, body } = await forward();
  const half = body.slice(0, Math.floor(body.length / 2));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.write(half, () => response.destroy());
};

/** Accepts the request and never answers. */
export const silent: Fault = async () => {};
