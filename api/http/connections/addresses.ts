import ipaddr from 'ipaddr.js';

/** The bytes of an IPv6 address that identify one site (RFC 6177). */
const SITE_BYTES = 8;

/** Counts the connections that have carried no valid token, by source address. */
export class UnauthenticatedConnections {
  readonly #max: number | null;
  readonly #counts = new Map<string, number>();

  constructor(max: number | null) {
    this.#max = max;
  }

  /** False if there are too many already. */
  admit(address: string): boolean {
    if (this.#max === null) return true;
    const source = sourceOf(address);
    const count = this.#counts.get(source) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(source, count + 1);
    return true;
  }

  /** Called when the connection has closed or carried a valid token. */
  release(address: string): void {
    if (this.#max === null) return;
    const source = sourceOf(address);
    const count = this.#counts.get(source) ?? 0;
    if (count <= 1) this.#counts.delete(source);
    else this.#counts.set(source, count - 1);
  }
}

/** As the log shows it: an IPv4 address in its own form, even if it was mapped to IPv6. */
export function shownAddress(address: string | null | undefined): string | null {
  if (!address) return null;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : null;
}

/** The IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber as a whole. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, SITE_BYTES).join('.');
}
