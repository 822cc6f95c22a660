import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** Servers on loopback that fail a webhook, each in one way. */
export interface FailingReceivers {
  /** Answers every connection with these bytes; `then` acts on it further. */
  raw(answer: string, then?: (socket: Socket) => void): Promise<string>;
  /** Accepts every connection and says nothing; `protocol` is the url's. */
  silent(protocol: 'http' | 'https'): Promise<string>;
  /** Answers every request with this status; the url may claim another protocol. */
  answering(status: number, protocol?: 'http' | 'https'): Promise<string>;
  /**
   * Answers the first `answers` requests of a connection and then loses it with the next one, unread; `lose` says how. Counts
   * connections, and requests that it has read.
   */
  losing(answers: number, lose: (socket: Socket) => void): Promise<{ url: string; connections: number; read: number }>;
  /** Answers 200 if the client accepts these settings of TLS. */
  secure(options: ServerOptions): Promise<string>;
  /** Nothing listens there. */
  absent(): Promise<string>;
  close(): Promise<void>;
}

export function failingReceivers(): FailingReceivers {
  const closers: (() => Promise<unknown>)[] = [];
  const started = async (server: Server) => {
    const { port, close } = await listening(server);
    closers.push(close);
    return port;
  };
  return {
    raw: async (answer, then = () => {}) => {
      const server = createTcpServer((socket) => {
        socket.once('data', () => {
          socket.write(answer);
          then(socket);
        });
      });
      return `http://127.0.0.1:${await started(server)}/hook`;
    },
    silent: async (protocol) => `${protocol}://127.0.0.1:${await started(createTcpServer(() => {}))}/hook`,
    answering: async (status, protocol = 'http') => {
      const location = { location: 'http://127.0.0.1:1024/' };
      const server = createHttpServer((_request, response) => response.writeHead(status, location).end('no'));
      return `${protocol}://localhost:${await started(server)}/hook`;
    },
    losing: async (answers, lose) => {
      const seen = { url: '', connections: 0, read: 0 };
      const server = createTcpServer((socket) => {
        seen.connections += 1;
        let left = answers;
        socket.on('data', (chunk) => {
          // A chunk may be only a body.
          if (!chunk.toString('latin1').startsWith('POST ')) return;
          if (left === 0) return lose(socket);
          left -= 1;
          seen.read += 1;
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        });
      });
      seen.url = `http://127.0.0.1:${await started(server)}/hook`;
      return seen;
    },
    secure: async (options) => {
      const server = createHttpsServer(options, (_request, response) => response.writeHead(200).end('ok'));
      return `https://localhost:${await started(server)}/hook`;
    },
    // Below every port that tests or their system choose: one that a test released may be in use by another process.
    absent: async () => 'http://127.0.0.1:19999/hook',
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

async function listening(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, close };
}
