import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 ranges without hosts of the public internet (RFC 6890, RFC 5771), and Azure's metadata service. */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The public part of IPv6. It excludes the forms that carry an IPv4 address (mapped, NAT64). */
const PUBLIC_6 = ['2000::/3'];

/** Exceptions in that part: 6to4, Teredo, documentation and protocols. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const [notPublic4, public6, notPublic6] = [NOT_PUBLIC_4, PUBLIC_6, NOT_PUBLIC_6].map(listOf) as [
  BlockList,
  BlockList,
  BlockList,
];

export type Resolver = (
  hostname: string,
  options: { all: true },
  answer: (error: NodeJS.ErrnoException | null, addresses?: { address: string; family: number }[]) => void,
) => void;

/** The host is, or resolves to, a forbidden address. */
export class AddressRefused extends Error {}

/**
 * Permits public addresses by https, and the addresses of the allowed networks by http, too. It checks the addresses that
 * the connection then uses, so a name cannot resolve to another address after the check.
 */
export class AddressGuard {
  private readonly allowed: BlockList;

  /** `networks` are addresses or networks such as `10.0.0.0/8`. */
  constructor(
    networks: readonly string[],
    private readonly resolve: Resolver = systemLookup,
  ) {
    this.allowed = listOf(networks);
  }

  /** Throws AddressRefused, or the reason why the name cannot be resolved. */
  async check(url: URL): Promise<void> {
    this.checkAddress(url);
    await new Promise<void>((resolve, reject) => {
      this.lookup(url)(hostOf(url), { all: true }, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Throws AddressRefused if the host is a forbidden address itself. Sockets do no lookup for an address. */
  checkAddress(url: URL): void {
    const host = hostOf(url);
    if (isIP(host) && !this.permits(host, url)) throw new AddressRefused();
  }

  /** Returns the lookup function for the sockets of one request. It fails with AddressRefused. */
  lookup(url: URL): LookupFunction {
    return (hostname, { all }, answer) => {
      this.resolve(hostname, { all: true }, (error, addresses = []) => {
        const [first] = addresses;
        const refused = addresses.some(({ address }) => !this.permits(address, url));
        if (error) answer(error, '');
        else if (refused || !first) answer(new AddressRefused(), '');
        else if (all) answer(null, addresses);
        else answer(null, first.address, first.family);
      });
    };
  }

  private permits(address: string, { protocol }: URL): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (this.allowed.check(address, type)) return true;
    if (protocol !== 'https:') return false;
    return family === 4
      ? !notPublic4.check(address, type)
      : public6.check(address, type) && !notPublic6.check(address, type);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (type === 'ipv6' ? 128 : 32) : Number(bits), type);
  }
  return list;
}
