import type { PasswordHasher } from '../../../src/application/accounts/ports.js';
import { HashingBusy } from '../../../src/domain/accounts/errors.js';
import { atOnce } from '../../support/barrier.js';

export interface PasswordHasherUnderTest {
  readonly hasher: PasswordHasher;
  /** The number of calls that it accepts at once. */
  readonly most: number;
}

export function passwordHasherContract(adapter: string, open: () => PasswordHasherUnderTest) {
  describe(`PasswordHasher of ${adapter}`, () => {
    let hasher: PasswordHasher;
    let most: number;
    beforeEach(() => {
      ({ hasher, most } = open());
    });

    it('matches a password with its hash, in any process', async () => {
      const hash = await hasher.hash('correct horse');
      expect(await hasher.matches('correct horse', hash)).toBe(true);
      expect(await open().hasher.matches('correct horse', hash)).toBe(true);
    });

    it('makes a hash without the password in it, and another one each time', async () => {
      const [one, two] = [await hasher.hash('correct horse'), await hasher.hash('correct horse')];
      expect(one).not.toContain('correct horse');
      expect(two).not.toBe(one);
      expect(await hasher.matches('correct horse', two)).toBe(true);
    });

    it('matches no other password', async () => {
      const hash = await hasher.hash('correct horse');
      for (const other of ['', 'correct hors', 'correct horse ', 'Correct horse', 'correct horse\0'])
        expect(await hasher.matches(other, hash)).toBe(false);
    });

    it.each([
      ['at the end of a long one', `${'x'.repeat(127)}a`, `${'x'.repeat(127)}b`],
      ['right after the 72nd byte', `${'x'.repeat(72)}a`, 'x'.repeat(72)],
      ['after many that take several bytes', `${'🦆'.repeat(40)}a`, `${'🦆'.repeat(40)}b`],
      ['after a NUL', 'correct\0horse', 'correct\0house'],
      ['beyond ASCII', 'pässword', 'pâssword'],
    ])('counts every character: %s', async (_, password, other) => {
      const hash = await hasher.hash(password);
      expect(await hasher.matches(password, hash)).toBe(true);
      expect(await hasher.matches(other, hash)).toBe(false);
    });

    it('never matches nobody’s hash', async () => {
      for (const password of ['', 'null', 'correct horse']) expect(await hasher.matches(password, null)).toBe(false);
    });

    it('refuses what is too much at once, and does what it has taken', async () => {
      // A second time, since the first must leave no trace.
      for (let time = 0; time < 2; time++) {
        const outcomes = await atOnce(most + 3, (party) =>
          (party % 2 ? hasher.hash('x') : hasher.matches('x', null)).catch((error: unknown) => error),
        );
        expect(outcomes.filter((outcome) => outcome instanceof HashingBusy)).toHaveLength(3);
        expect(outcomes.filter((outcome) => outcome instanceof Error)).toHaveLength(3);
      }
    });
  });
}
