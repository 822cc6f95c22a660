import { connect, type Socket } from 'node:net';

/** A raw connection to a loopback server, for requests that no regular client sends; from another loopback address if given. */
export async function socketTo(url: string, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('close', () => reject(new Error('the connection was rejected')));
  });
  return socket;
}

export function requestHead(method: string, path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

/** The status of the next answer on this connection; null when it is closed without one. */
export async function nextStatus(socket: Socket): Promise<number | null> {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec((await nextHead(socket)) ?? '') ?? [];
  return status === undefined ? null : Number(status);
}

/** Status line and headers of the next answer on this connection; null when it is closed without one. */
export function nextHead(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
      const end = text.indexOf('\r\n\r\n');
      if (end !== -1) resolve(text.slice(0, end));
    });
    socket.once('close', () => resolve(null));
  });
}
