import ipaddr from 'ipaddr.js';

/** What `ipaddr.js` calls unicast and is none of the public Internet all the same. */
const RESERVED_IPV4 = ['168.63.129.16/32', '192.0.0.0/24', '198.18.0.0/15', '192.88.99.0/24'].map(range);
/** Of IPv6 only this is the public Internet, but for what is below. */
const GLOBAL_IPV6 = range('2000::/3');
const RESERVED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(range);
const LOOPBACK = '127.0.0.1';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * Which addresses webhooks may reach: those of the public Internet, and what the operator allows beside. Whatever carries
 * another address in it, such as IPv4-mapped IPv6, is judged by that one too.
 */
export class AddressPolicy {
  readonly #allowed: readonly Range[];

  /** Ranges in CIDR notation. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map(range);
  }

  /** Whether an address, as text, may be reached. */
  permits(text: string): boolean {
    // The zone of a link-local address is no part of it.
    const [plain = ''] = text.split('%');
    if (!ipaddr.isValid(plain)) return false;
    const address = ipaddr.process(plain);
    return this.#allowed.some((one) => matches(address, one)) || isPublic(address);
  }

  /** Why the host of a URL, as `URL` writes it, may not be reached, by its name alone; undefined when it may be tried. */
  refusalOf(hostname: string): string | undefined {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    if (ipaddr.isValid(host)) {
      return this.permits(host) ? undefined : `${host} is no address of the public Internet`;
    }
    if (/(^|\.)localhost\.?$/.test(host) && !this.permits(LOOPBACK)) return `${host} is this machine`;
    return undefined;
  }
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !RESERVED_IPV4.some((one) => matches(address, one));
  return matches(address, GLOBAL_IPV6) && !RESERVED_IPV6.some((one) => matches(address, one));
}

function matches(address: Address, [start, bits]: Range): boolean {
  if (address.kind() !== start.kind()) return false;
  return address.match(start as never, bits);
}

function range(cidr: string): Range {
  return ipaddr.parseCIDR(cidr) as Range;
}
