import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';

/** The code of the error for a host that has only forbidden addresses. */
export const FORBIDDEN_ADDRESS = 'FORBIDDEN_ADDRESS';

/** The addresses of the metadata services of clouds, which give away the rights of the machine. */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('169.254.0.0', 16);
FORBIDDEN.addSubnet('fd00:ec2::', 32, 'ipv6');
for (const address of ['168.63.129.16', '100.100.100.200', '192.0.0.192']) FORBIDDEN.addAddress(address);
for (const address of ['fd20:ce::254', 'fe80::a9fe:a9fe', '64:ff9b::a9fe:a9fe']) FORBIDDEN.addAddress(address, 'ipv6');

const isForbidden = (address: string): boolean =>
  FORBIDDEN.check(address.replace(/%.*$/, ''), isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Resolves the host of an engine as the operating system does, without the addresses of metadata services. A pattern in
 * `SERVICE_RUNTIME_ALLOWED_HOSTS` allows names that others may create, and they decide about the addresses. Private
 * addresses are usual for engines. A host that is an IP address is not looked up: only an entry of the operator allows it.
 */
export const engineLookup: LookupFunction = (hostname, options, answer) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses = []) => {
    const allowed = addresses.filter(({ address }) => !isForbidden(address));
    const [first] = allowed;
    if (error) answer(error, '');
    else if (!first) answer(Object.assign(new Error('no allowed address'), { code: FORBIDDEN_ADDRESS }), '');
    else if (options.all) answer(null, allowed);
    else answer(null, first.address, first.family);
  });
};
