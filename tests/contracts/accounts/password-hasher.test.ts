import bcrypt from 'bcrypt';
import { BcryptPasswordHasher } from '../../../src/infrastructure/crypto/bcrypt-password-hasher.js';
import { MemoryPasswordHasher } from '../../../src/infrastructure/memory/accounts/memory-password-hasher.js';
import { passwordHasherContract } from './password-hasher.contract.js';

const COST = 4;

passwordHasherContract('bcrypt', () => ({ hasher: new BcryptPasswordHasher(COST), most: 2 + 64 }));
passwordHasherContract('memory', () => ({ hasher: new MemoryPasswordHasher(5), most: 5 }));

describe('PasswordHasher of bcrypt', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is as slow as it was told to be', async () => {
    expect(await new BcryptPasswordHasher(5).hash('x')).toMatch(/^\$2b\$05\$/);
  });

  it.each([
    ['first', 0],
    ['second', 1],
  ])('does the same work for nobody’s hash as for somebody’s, at the %s call', async (_, earlier) => {
    const somebodys = await new BcryptPasswordHasher(COST).hash('correct horse');
    const [compare, make] = [jest.spyOn(bcrypt, 'compare'), jest.spyOn(bcrypt, 'hash')];
    const workFor = async (hash: string | null) => {
      const hasher = new BcryptPasswordHasher(COST);
      for (let call = 0; call < earlier; call++) await hasher.matches('x', somebodys);
      jest.clearAllMocks();
      await hasher.matches('x', hash);
      const compared = compare.mock.calls.map(([data, against]) => [String(data).length, String(against).slice(0, 7)]);
      return { compared, made: make.mock.calls.map(([, cost]) => cost) };
    };
    const work = await workFor(somebodys);
    expect(work.compared).toEqual([[44, '$2b$04$']]);
    expect(await workFor(null)).toEqual(work);
  });

  it('still matches the hashes that were made at another cost', async () => {
    const hash = await new BcryptPasswordHasher(5).hash('correct horse');
    expect(await new BcryptPasswordHasher(COST).matches('correct horse', hash)).toBe(true);
  });
});
