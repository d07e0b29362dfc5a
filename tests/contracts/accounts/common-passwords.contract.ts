import type { PasswordBlocklist } from '../../../src/application/accounts/ports.js';

/** `open` makes those of a deployment that refuses common passwords, or doesn't. */
export function commonPasswordsContract(adapter: string, open: (refused: boolean) => PasswordBlocklist) {
  describe(`PasswordBlocklist of ${adapter}`, () => {
    const common = ['password', 'password1', '12345678', 'qwertyuiop', 'iloveyou', 'letmein1', 'sunshine', 'football'];
    const spellings = common.flatMap((one) => [
      one,
      one.toUpperCase(),
      (one[0] as string).toUpperCase() + one.slice(1),
    ]);

    it.each(spellings)('include what everybody tries first, letter case aside: %s', (password) => {
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
    ])('include no other: %s', (_, password) => {
      expect(open(true).include(password)).toBe(false);
    });

    it('include none where the deployment does not refuse them', () => {
      const passwords = open(false);
      for (const password of [...spellings, '', 'gT7#kq0Zr!w2']) expect(passwords.include(password)).toBe(false);
    });
  });
}
