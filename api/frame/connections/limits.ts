/** What one connection may take, and for how long. */
export interface ServerLimits {
  /** Time limit for the headers, from the connection on. */
  readonly headersMs: number;
  /** Time limit for the whole request. */
  readonly requestMs: number;
  /** How often the server looks for connections that exceed the two above, or do not take their answers. */
  readonly checkMs: number;
  /** How long a caller may take nothing of an answer. */
  readonly stallMs: number;
  /** The same of a file: a full buffer takes on more only when a third of it, up to 1.4 MB, has gone out. */
  readonly fileStallMs: number;
  /** Time limit for taking a whole answer; files have none, as long as their caller takes some of them. */
  readonly answerMs: number;
  /** After an answer that closes the connection: how long, and how much, the server still reads of what the caller sends. */
  readonly lingerMs: number;
  readonly lingerBytes: number;
  /** Open connections; further ones are closed at once. */
  readonly connectionsMax: number;
  /** Of these, from one address, as long as they have carried no valid token; null is no limit. */
  readonly strangersPerAddressMax: number | null;
}

export const SERVER_LIMITS: ServerLimits = {
  // Regular clients send headers in one packet, and 1 MiB in 30 s is only 35 kB/s. Node's limits of one and five
  // minutes let slow senders hold sockets.
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 2_000,
  // The largest ordinary answer, the documentation's script of 1 MB, reaches a phone at 20 kB/s in time.
  stallMs: 20_000,
  // Read at 12 kB/s, from a buffer that was filled at full speed.
  fileStallMs: 120_000,
  answerMs: 60_000,
  // Twice the largest body that a route takes, so that who sends somewhat too much still sees the answer; a regular
  // client stops, or has sent it, within seconds.
  lingerMs: 5_000,
  lingerBytes: 8 * 1024 * 1024,
  // Refuses further sockets, so that idle ones cannot take every file descriptor.
  connectionsMax: 8_192,
  // A setting (config/schema.ts).
  strangersPerAddressMax: null,
};

/**
 * Keep-alive outlasts the 60 s of common load balancers: if the server closed first, it could lose a request that is
 * under way.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;
