/** What one connection may take, and for how long. */
export interface ServerLimits {
  /** Time limit for the headers, from the connection on. */
  readonly headersMs: number;
  /** Time limit for the whole request. */
  readonly requestMs: number;
  /** How often the server looks for connections that exceed the two above, or do not take their answers. */
  readonly checkMs: number;
  /** How long a caller may receive no byte of an answer. */
  readonly stallMs: number;
  /** The same for a file: a full buffer accepts more only after a third of it, up to 1.4 MB, has been sent. */
  readonly fileStallMs: number;
  /** Time limit for receiving a whole answer; files have none as long as their caller keeps receiving. */
  readonly answerMs: number;
  /** How long, and how many bytes, the server keeps reading after an answer that closes the connection. */
  readonly lingerMs: number;
  readonly lingerBytes: number;
  /** Open connections; further ones are closed at once. */
  readonly connectionsMax: number;
  /** Of these, from one address, as long as they have carried no valid token; null is no limit. */
  readonly unauthenticatedPerAddressMax: number | null;
}

export const SERVER_LIMITS: ServerLimits = {
  // Regular clients send headers in one packet, and 1 MiB in 30 s is only 35 kB/s. Node's limits of one and five
  // minutes let slow senders hold sockets.
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 2_000,
  // The largest ordinary answer, the documentation's script of 1 MB, reaches a phone at 20 kB/s in time.
  stallMs: 20_000,
  // For a caller that reads 12 kB/s from a buffer that was filled at full speed.
  fileStallMs: 120_000,
  answerMs: 60_000,
  // Twice the largest body that a route accepts, so that a caller that sends a little too much still gets the answer; a regular
  // client stops or finishes within seconds.
  lingerMs: 5_000,
  lingerBytes: 8 * 1024 * 1024,
  // Rejects further sockets, so that idle ones cannot take every file descriptor.
  connectionsMax: 8_192,
  // A setting (config/schema/schema.ts).
  unauthenticatedPerAddressMax: null,
};

/**
 * Keep-alive outlasts the 60 s of common load balancers: if the server closed first, it could lose a request that is
 * under way.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;
