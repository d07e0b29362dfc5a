import type { PasswordBlocklist } from '../../../src/application/accounts/ports.js';

/** `open(refused)` makes the list of a deployment that refuses common passwords or does not. */
export function commonPasswordsContract(adapter: string, open: (refused: boolean) => PasswordBlocklist) {
  describe(`PasswordBlocklist of ${adapter}`, () => {
    const common = ['password', 'PASSWORD1', '12345678', 'Qwertyuiop', 'iloveyou', 'Letmein1', 'sunshine', 'football'];

    it.each(common)('includes what everybody tries first, letter case aside: %s', (password) => {
      expect(open(true).include(password)).toBe(true);
    });

    it.each([
      ['of chance', 'gT7#kq0Zr!w2'],
      ['of several words', 'correct horse battery staple'],
      ['of no character', ''],
      ['of another script', 'пёстрый-дятел-42'],
      ['with a common one in it', 'password of the duke of Ålesund'],
      ['with a space behind', 'password '],
      ['of very many characters', 'password'.repeat(10_000)],
      ['named as what every object has', 'constructor'.repeat(2)],
      ['named as what every object inherits', '__proto__'],
    ])('includes no other: %s', (_, password) => {
      expect(open(true).include(password)).toBe(false);
    });

    it('includes none where the deployment does not refuse them', () => {
      const passwords = open(false);
      for (const password of [...common, '', 'gT7#kq0Zr!w2']) expect(passwords.include(password)).toBe(false);
    });
  });
}
