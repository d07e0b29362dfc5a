import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { datasetsContract } from './datasets.contract.js';
import { modelAliasesContract } from './model-aliases.contract.js';
import { modelsContract } from './models.contract.js';
import { projectsContract } from './projects.contract.js';

for (const [name, store] of [
  ['memory', memoryUnderTest()],
  ['PostgreSQL', postgresUnderTest()],
] as const) {
  projectsContract(name, store);
  modelsContract(name, store);
  modelAliasesContract(name, store);
  datasetsContract(name, store);
}

describe('ContentHasher by node:crypto', () => {
  it.each([
    ['nothing', [], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['plain text', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['text beyond ASCII', ['Grüße 🦆'], '81e514547f985323adf7608497016a51f94aedba793b416ed60b2f4fd5a5e1d2'],
    ['a million letters', ['a'.repeat(1e6)], 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('is SHA-256: %s', async (_, parts, digest) => {
    expect(await new Sha256ContentHasher().hash(parts)).toBe(digest);
  });

  it('is of the parts put together, however they are cut', async () => {
    const whole = 'ä'.repeat(300_000);
    const hasher = new Sha256ContentHasher();
    const digest = await hasher.hash([whole]);
    expect(await hasher.hash(['', whole.slice(0, 100_001), '', whole.slice(100_001)])).toBe(digest);
    expect(await hasher.hash(whole)).toBe(digest);
    expect(await hasher.hash([whole, 'x'])).not.toBe(digest);
  });

  it('lets other work go on meanwhile', async () => {
    let others = 0;
    const working = setInterval(() => others++, 0);
    await new Sha256ContentHasher().hash(Array.from({ length: 500 }, () => 'x'.repeat(10_000)));
    clearInterval(working);
    expect(others).toBeGreaterThan(0);
  });
});
