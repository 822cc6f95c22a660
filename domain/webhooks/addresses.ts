import ipaddr from 'ipaddr.js';

/** Where webhooks may go: the pure decision about urls and addresses. Resolving names is the caller's work. */
export interface WebhookAddressPolicy {
  readonly allowPlainHttp: boolean;
  readonly allowLoopback: boolean;
  /** Private ranges (10/8, 172.16/12, 192.168/16, fc00::/7), for a service in one network with its receivers. */
  readonly allowPrivate?: boolean;
  /** The service's own address, which is never a receiver. */
  readonly ownBaseUrl: string;
}

export type AddressProblem =
  | 'is not a url'
  | 'must be an https address'
  | 'must not hold credentials'
  | 'must not have a fragment'
  | 'is longer than 2048 characters'
  | 'has a port that webhooks are not sent to'
  | 'is the address of this service'
  | 'is not a public address';

const URL_LENGTH_MAX = 2048;
// Receivers on this machine may have any port that a service without privileges can have.
const UNPRIVILEGED_PORT_MIN = 1024;
// Elsewhere only where web servers live: a webhook must not be a way to talk to somebody's mail server or cache.
const PORTS: Readonly<Record<string, readonly number[]>> = { 'https:': [443, 8443], 'http:': [80, 8080] };

/** Judges a url by its text alone: a name in it may still resolve to an address that is refused. */
export function webhookUrlProblem(text: string, policy: WebhookAddressPolicy): AddressProblem | null {
  if (text.length > URL_LENGTH_MAX) return 'is longer than 2048 characters';
  if (!URL.canParse(text)) return 'is not a url';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowPlainHttp))
    return 'must be an https address';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (url.hash !== '') return 'must not have a fragment';
  const host = hostOf(url);
  if (host === '') return 'is not a url';
  const port = portOf(url);
  if (isOwnAddress(host, port, policy)) return 'is the address of this service';
  const loopback = isLoopbackName(host) || isLoopbackAddress(host);
  if (loopback && !policy.allowLoopback) return 'is not a public address';
  const portAllowed = PORTS[url.protocol]?.includes(port) || (loopback && port >= UNPRIVILEGED_PORT_MIN);
  if (portAllowed !== true) return 'has a port that webhooks are not sent to';
  if (isAddress(host) && !isAllowedAddress(host, policy)) return 'is not a public address';
  return null;
}

/** The host without brackets and without the dot of a fully qualified name. WHATWG urls have written out odd IPv4 forms. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Whether this host and port are the service itself, by any name of the loopback where the service is on it. */
export function isOwnAddress(host: string, port: number, policy: WebhookAddressPolicy): boolean {
  const own = new URL(policy.ownBaseUrl);
  if (port !== portOf(own)) return false;
  const ownHost = hostOf(own).toLowerCase();
  if (host.toLowerCase() === ownHost) return true;
  const ownIsLoopback = isLoopbackName(ownHost) || isLoopbackAddress(ownHost);
  return ownIsLoopback && (isLoopbackName(host) || isLoopbackAddress(host));
}

/** `localhost` and everything below it is this machine, whatever a resolver says (RFC 6761). */
function isLoopbackName(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost');
}

function isLoopbackAddress(host: string): boolean {
  const address = parseAddress(host);
  return address !== null && address.range() === 'loopback';
}

export function isAddress(text: string): boolean {
  return text.includes(':') || ipaddr.isValid(text);
}

/** Whether a connection to this IP address may be made. Text that is no address is refused. */
export function isAllowedAddress(text: string, policy: WebhookAddressPolicy): boolean {
  const address = parseAddress(text);
  if (address === null) return false;
  const isIpv6 = address.kind() === 'ipv6';
  // ::127.0.0.1 and its like mean an IPv4 address in words that nobody uses any more: never an address of a receiver.
  if (isIpv6 && address.match(IPV4_COMPATIBLE) && address.toString() !== '::1') return false;
  const range = address.range();
  if (range === 'loopback') return policy.allowLoopback;
  if (range === 'private' || range === 'uniqueLocal') return policy.allowPrivate === true;
  // Some versions of ipaddr.js call every address unicast that no table names: of IPv6 only 2000::/3 is in use.
  return range === 'unicast' && (!isIpv6 || address.match(GLOBAL_UNICAST));
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const IPV4_COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];

/**
 * The address that is meant: ::ffff:10.0.0.1 is 10.0.0.1. A zone (%eth0) is refused. IPv6 is written out by the url parser
 * first, because ipaddr.js reads ::127.0.0.1 as ::ffff:127.0.0.1.
 */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const written = text.includes(':') ? writeOutIpv6(text) : text;
  if (written === null || !ipaddr.isValid(written)) return null;
  const address = ipaddr.parse(written);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function writeOutIpv6(text: string): string | null {
  const url = `http://[${text}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : null;
}
