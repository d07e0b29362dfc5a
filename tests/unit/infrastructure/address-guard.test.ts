import {
  AddressGuard,
  AddressRefused,
  type Resolver,
} from '../../../src/infrastructure/webhooks/http-webhook-sender.js';

const resolving =
  (...addresses: string[]): Resolver =>
  (_name, _options, answer) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

/** Returns whether the guard permits the address in a URL. Checks the same for a name that resolves to it. */
async function permits(address: string, networks: string[] = [], protocol = 'https'): Promise<boolean> {
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

describe('AddressGuard', () => {
  it.each(['93.184.215.14', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])(
    'permits public addresses by https, but not by http: %s',
    async (address) => {
      expect(await permits(address)).toBe(true);
      expect(await permits(address, [], 'http')).toBe(false);
      expect(await permits(address, ['10.0.0.0/8', 'fd00::/8'], 'http')).toBe(false);
    },
  );

  const notPublic = {
    'this host': '0.0.0.0 127.0.0.1 127.255.1.2 :: ::1',
    private: '10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fec0::1 fd12::1 fe80::1',
    metadata: '169.254.169.254 168.63.129.16 192.0.0.192 100.100.100.200 fd00:ec2::254',
    reserved:
      '198.18.0.1 203.0.113.7 224.0.0.1 250.1.1.1 255.255.255.255 ff02::1 2001:db8::1 3fff::1 100::1 1000::1 4000::1 9000::1',
    'IPv4 in IPv6':
      '::ffff:127.0.0.1 ::ffff:1.1.1.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::a00:1 2002:7f00:1:: 2001:0:7f00:1::',
  };
  it.each(Object.entries(notPublic))('refuses addresses that are not public: %s', async (_, addresses) => {
    for (const address of addresses.split(' ')) {
      expect([address, await permits(address)]).toEqual([address, false]);
      expect(await permits(address, ['192.168.77.0/24', 'fd77::/16'])).toBe(false);
    }
  });

  it('permits the allowed networks, also by http and in any form of their addresses', async () => {
    const networks = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1'];
    for (const address of ['10.9.9.9', '127.0.0.1', 'fd12::1', '::1', '::ffff:10.1.1.1']) {
      expect(await permits(address, networks, 'http')).toBe(true);
      expect(await permits(address, networks, 'https')).toBe(true);
    }
    for (const address of ['127.0.0.2', '11.0.0.1', 'fe80::1', '::2']) {
      expect(await permits(address, networks, 'http')).toBe(false);
    }
  });

  it.each(['0x7f.1', '2130706433', '0177.0.0.1', '127.1', '127。0。0。1', '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]'])(
    'recognizes other spellings of an address: %s',
    async (host) => {
      const guard = new AddressGuard([], resolving('1.1.1.1'));
      await expect(guard.check(new URL(`https://${host}/`))).rejects.toBeInstanceOf(AddressRefused);
    },
  );

  it('refuses a name if one of its addresses is refused, or if it has none', async () => {
    const check = (...addresses: string[]) =>
      new AddressGuard([], resolving(...addresses)).check(new URL('https://name.example/'));
    await expect(check('1.1.1.1', '2606:4700::1111')).resolves.toBeUndefined();
    await expect(check('1.1.1.1', '10.0.0.1')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check('::1', '1.1.1.1')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check('fe80::1%eth0')).rejects.toBeInstanceOf(AddressRefused);
    await expect(check()).rejects.toBeInstanceOf(AddressRefused);
  });
});
