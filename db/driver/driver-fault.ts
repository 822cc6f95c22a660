/**
 * postgres.js 3.4.9 throws one TypeError out of a setImmediate when a connection goes away under a transaction
 * (upstream #1066, #1154, #1208): no try/catch reaches it. It is told by its stack, the clients are renewed, and the
 * process lives on. Every other uncaught error ends the process, as it does without a handler.
 */
const handlers = new Set<(reason: string) => void>();
let installed = false;

/** `renew` is called when the fault happens; the answer stops that. */
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
