import type { MasterKey } from '../../../src/application/accounts/ports.js';

export function masterKeyContract(adapter: string, open: (key: string | null) => MasterKey) {
  describe(`MasterKey of ${adapter}`, () => {
    const key = 'Correct-Horse-Battery-Staple';

    it('takes the key itself, as often as it comes', () => {
      const masterKey = open(key);
      expect([masterKey.matches(key), masterKey.matches(key)]).toEqual([true, true]);
    });

    it('takes nothing else', () => {
      const masterKey = open(key);
      const near = [key.slice(0, -1), key.slice(1), `${key}x`, ` ${key}`, `${key}\n`, `${key}\0`, key.toLowerCase()];
      const far = ['', 'null', 'undefined', key.repeat(2), 'x'.repeat(1_000_000), '🦆'];
      for (const credential of [...near, ...far]) expect(masterKey.matches(credential)).toBe(false);
    });

    it('tells a key with letters beyond ASCII from one that looks like it', () => {
      const masterKey = open('schlüssel-und-schloss');
      expect(masterKey.matches('schlüssel-und-schloss')).toBe(true);
      expect(masterKey.matches('schl\u00fcssel-und-schlo\u00df')).toBe(false);
      expect(masterKey.matches('schl?ssel-und-schloss')).toBe(false);
    });

    it('takes nothing where none is set', () => {
      const masterKey = open(null);
      for (const credential of ['', 'null', 'undefined', key]) expect(masterKey.matches(credential)).toBe(false);
    });
  });
}
