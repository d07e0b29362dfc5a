import * as crypto from 'node:crypto';
import { ConfiguredMasterKey } from '../../../src/infrastructure/crypto/secrets.js';

jest.mock('node:crypto', () => {
  const actual = jest.requireActual<typeof crypto>('node:crypto');
  return { ...actual, timingSafeEqual: jest.fn(actual.timingSafeEqual) };
});

describe('MasterKey of the configuration', () => {
  const key = 'Correct-Horse-Battery-Staple';

  it('matches the key, also a second time', () => {
    const masterKey = new ConfiguredMasterKey(key);
    expect([masterKey.matches(key), masterKey.matches(key)]).toEqual([true, true]);
  });

  it('matches no other text', () => {
    const masterKey = new ConfiguredMasterKey(key);
    const near = [key.slice(0, -1), key.slice(1), `${key}x`, ` ${key}`, `${key}\n`, `${key}\0`, key.toLowerCase()];
    const far = ['', 'null', 'undefined', key.repeat(2), 'x'.repeat(1_000_000), '🦆'];
    for (const credential of [...near, ...far]) expect(masterKey.matches(credential)).toBe(false);
  });

  it('distinguishes a key with letters beyond ASCII from similar keys', () => {
    const masterKey = new ConfiguredMasterKey('schlüssel-und-schloss');
    expect(masterKey.matches('schlüssel-und-schloss')).toBe(true);
    expect(masterKey.matches('schl\u00fcssel-und-schlo\u00df')).toBe(false);
    expect(masterKey.matches('schl?ssel-und-schloss')).toBe(false);
  });

  it('matches nothing if no key is set', () => {
    const masterKey = new ConfiguredMasterKey(null);
    for (const credential of ['', 'null', 'undefined', key]) expect(masterKey.matches(credential)).toBe(false);
  });

  it('compares values of equal length in constant time', () => {
    const compare = jest.mocked(crypto.timingSafeEqual);
    const masterKey = new ConfiguredMasterKey(key);
    for (const credential of ['', 'C', 'Correct-Horse-Battery-Stapl', 'Correct-Horse-Battery-Staple']) {
      compare.mockClear();
      masterKey.matches(credential);
      expect(compare).toHaveBeenCalledTimes(1);
      expect(compare.mock.calls[0]?.map(({ byteLength }) => byteLength)).toEqual([32, 32]);
    }
  });
});
