import ipaddr from 'ipaddr.js';

/** Decides which urls and addresses may receive webhooks. The caller resolves names. */
export interface WebhookAddressPolicy {
  readonly allowPlainHttp: boolean;
  readonly allowLoopback: boolean;
  /** Private ranges (10/8, 172.16/12, 192.168/16, fc00::/7), for a service in one network with its receivers. */
  readonly allowPrivate?: boolean;
  /** The service's own address, which never receives webhooks. */
  readonly ownBaseUrl: string;
}

export type AddressProblem =
  | 'is not a url'
  | 'must be an https address'
  | 'must not contain credentials'
  | 'must not have a fragment'
  | 'is longer than 2048 characters'
  | 'has a port to which webhooks are not sent'
  | 'is the address of this service'
  | 'is not a public address';

const URL_LENGTH_MAX = 2048;
// A receiver on this machine may use any unprivileged port.
const UNPRIVILEGED_PORT_MIN = 1024;
// Elsewhere only web ports: a webhook must not become a way to talk to mail servers or caches.
const PORTS: Readonly<Record<string, readonly number[]>> = { 'https:': [443, 8443], 'http:': [80, 8080] };

/** Checks a url's text only: a name in it may still resolve to a forbidden address. */
export function webhookUrlProblem(text: string, policy: WebhookAddressPolicy): AddressProblem | null {
  if (text.length > URL_LENGTH_MAX) return 'is longer than 2048 characters';
  if (!URL.canParse(text)) return 'is not a url';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowPlainHttp))
    return 'must be an https address';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.hash !== '') return 'must not have a fragment';
  const host = hostOf(url);
  if (host === '') return 'is not a url';
  const port = portOf(url);
  if (isOwnAddress(host, port, policy)) return 'is the address of this service';
  const loopback = isLoopbackName(host) || isLoopbackAddress(host);
  if (loopback && !policy.allowLoopback) return 'is not a public address';
  const portAllowed = PORTS[url.protocol]?.includes(port) || (loopback && port >= UNPRIVILEGED_PORT_MIN);
  if (portAllowed !== true) return 'has a port to which webhooks are not sent';
  if (isAddress(host) && !isAllowedAddress(host, policy)) return 'is not a public address';
  return null;
}

/** The host without brackets or a trailing dot. WHATWG urls have already normalized unusual IPv4 forms. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Whether this host and port are the service itself, by any loopback name if the service listens there. */
export function isOwnAddress(host: string, port: number, policy: WebhookAddressPolicy): boolean {
  const own = new URL(policy.ownBaseUrl);
  if (port !== portOf(own)) return false;
  const ownHost = hostOf(own).toLowerCase();
  if (host.toLowerCase() === ownHost) return true;
  const ownIsLoopback = isLoopbackName(ownHost) || isLoopbackAddress(ownHost);
  return ownIsLoopback && (isLoopbackName(host) || isLoopbackAddress(host));
}

/** `localhost` and its subdomains are this machine, whatever a resolver says (RFC 6761). */
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

/** Whether connections to this IP address are allowed. Text that is not an address is rejected. */
export function isAllowedAddress(text: string, policy: WebhookAddressPolicy): boolean {
  const address = parseAddress(text);
  if (address === null) return false;
  const isIpv6 = address.kind() === 'ipv6';
  // ::127.0.0.1 and the like embed an IPv4 address in an obsolete form that no receiver uses.
  if (isIpv6 && address.match(IPV4_COMPATIBLE) && address.toString() !== '::1') return false;
  const range = address.range();
  if (range === 'loopback') return policy.allowLoopback;
  if (range === 'private' || range === 'uniqueLocal') return policy.allowPrivate === true;
  // Some versions of ipaddr.js call any address outside their tables unicast; of IPv6 only 2000::/3 is in use.
  return range === 'unicast' && (!isIpv6 || address.match(GLOBAL_UNICAST));
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const IPV4_COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];

/**
 * The effective address: ::ffff:10.0.0.1 is 10.0.0.1. Rejects zones (%eth0). The url parser normalizes IPv6 first, because
 * ipaddr.js reads ::127.0.0.1 as ::ffff:127.0.0.1.
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
