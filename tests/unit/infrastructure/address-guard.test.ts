import { AddressGuard, AddressRefused, type Resolver } from '../../../src/infrastructure/webhooks/address-guard.js';

const resolving =
  (...addresses: string[]): Resolver =>
  (_name, _options, answer) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

/** Whether a URL is let through: one with this address as its host, and one with a name that resolves to it. */
async function lets(address: string, networks: string[] = [], protocol = 'https'): Promise<boolean> {
  const host = address.includes(':') ? `[${address}]` : address;
  const answers = await Promise.all(
    [`${protocol}://${host}/`, `${protocol}://name.example/`].map((url) =>
      new AddressGuard(networks, resolving(address)).check(new URL(url)).then(
        () => true,
        (error) => {
          expect(error).toBeInstanceOf(AddressRefused);
          return false;
        },
      ),
    ),
  );
  expect(answers[0]).toBe(answers[1]);
  return answers[0] as boolean;
}

describe('the guard of addresses', () => {
  it.each(['93.184.215.14', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])(
    'lets public addresses through by https, and not by http: %s',
    async (address) => {
      expect(await lets(address)).toBe(true);
      expect(await lets(address, [], 'http')).toBe(false);
      expect(await lets(address, ['10.0.0.0/8', 'fd00::/8'], 'http')).toBe(false);
    },
  );

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.1.2'],
    ['this host', '0.0.0.0'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared by carriers', '100.64.0.1'],
    ['metadata', '169.254.169.254'],
    ['metadata of Azure', '168.63.129.16'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.7'],
    ['multicast', '224.0.0.1'],
    ['reserved', '250.1.1.1'],
    ['broadcast', '255.255.255.255'],
    ['loopback', '::1'],
    ['unspecified', '::'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['unique local', 'fd12::1'],
    ['metadata of AWS', 'fd00:ec2::254'],
    ['multicast', 'ff02::1'],
    ['IPv4 in IPv6', '::ffff:127.0.0.1'],
    ['IPv4 in IPv6, even a public one', '::ffff:1.1.1.1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::a00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['discard', '100::1'],
  ])('refuses what is not public (%s): %s', async (_, address) => {
    expect(await lets(address)).toBe(false);
    expect(await lets(address, ['192.168.77.0/24', 'fd77::/16'])).toBe(false);
  });

  it('lets the allowed networks through, by http too, in whatever form their addresses come', async () => {
    const networks = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1'];
    for (const address of ['10.9.9.9', '127.0.0.1', 'fd12::1', '::1', '::ffff:10.1.1.1']) {
      expect(await lets(address, networks, 'http')).toBe(true);
      expect(await lets(address, networks, 'https')).toBe(true);
    }
    for (const address of ['127.0.0.2', '11.0.0.1', 'fe80::1', '::2']) {
      expect(await lets(address, networks, 'http')).toBe(false);
    }
  });

  it.each(['0x7f.1', '2130706433', '0177.0.0.1', '127.1', '127。0。0。1', '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]'])(
    'sees through other spellings of an address: %s',
    async (host) => {
      const guard = new AddressGuard([], resolving('1.1.1.1'));
      await expect(guard.check(new URL(`https://${host}/`))).rejects.toBeInstanceOf(AddressRefused);
    },
  );

  it('refuses a name of which one address is refused, and one of none', async () => {
    const check = (...addresses: string[]) =>
      new AddressGuard([], resolving(...addresses)).check(new URL('https://name.example/'));
    await expect(check('1.1.1.1', '2606:4700::1111')).resolves.toBeUndefined();
    await expect(check('1.1.1.1', '10.0.0.1')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check('::1', '1.1.1.1')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check('fe80::1%eth0')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check()).rejects.toBeInstanceOf(AddressRefused);
  });
});
