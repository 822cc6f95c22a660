import type net from 'node:net';

/** What a socket takes before it asks its writer to wait, which would cost a long transaction further round trips. */
export const SOCKET_TAKES_BYTES = 128 * 1024;
/** The statements of a shared transaction fit into one packet; half of what the socket takes, so that it never asks. */
const HELD_BACK_MAX_BYTES = SOCKET_TAKES_BYTES / 2;

/**
 * The driver writes each statement of more than a kilobyte by itself. Those of one turn go to Postgres in one packet
 * instead: every packet costs both processes more than most statements.
 */
export function sendTogether(socket: net.Socket): void {
  let corked = false;
  const write = socket.write;
  const uncork = () => {
    corked = false;
    socket.uncork();
  };
  socket.write = ((...given: Parameters<typeof write>) => {
    if (!corked) {
      corked = true;
      socket.cork();
      process.nextTick(uncork);
    }
    const hasRoom = write.apply(socket, given);
    if (socket.writableLength >= HELD_BACK_MAX_BYTES) uncork();
    return hasRoom;
  }) as typeof write;
}
