/**
 * postgres.js 3.4.9 throws a TypeError out of a setImmediate, beyond the reach of any try/catch, when a connection goes away
 * under a transaction (upstream #1066, #1154, #1208). This module recognises it by its stack, renews the clients and lets
 * the process live. Every other uncaught error ends the process, as it would without a handler.
 */
const handlers = new Set<(reason: string) => void>();
let installed = false;

/** Calls `renew` on each such fault, until the returned function is called. */
export function surviveDriverFault(renew: (reason: string) => void): () => void {
  handlers.add(renew);
  if (!installed) {
    installed = true;
    process.on('uncaughtException', onUncaught);
  }
  return () => handlers.delete(renew);
}

export function isDriverFault(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.stack === undefined) return false;
  const frames = error.stack.split('\n').filter((line) => line.trimStart().startsWith('at '));
  const inDriver = /node_modules[\\/]postgres[\\/](src|cjs[\\/]src|cf[\\/]src)[\\/]connection\.js/;
  const first = frames[0] ?? '';
  return inDriver.test(first) && /\bnextWrite\b/.test(first) && frames.some((line) => /processImmediate/.test(line));
}

function onUncaught(error: unknown): void {
  if (isDriverFault(error)) {
    for (const renew of handlers) renew('the driver failed on a closed connection');
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${JSON.stringify({ level: 60, msg: 'uncaught error', error: text })}\n`);
  process.exit(1);
}
