import { Dataset, validate } from '../../../src/domain/workspace/dataset.js';

const at = new Date(Date.UTC(2026, 0, 1));
const later = new Date(Date.UTC(2026, 0, 2));
const content = (valid = true) => ({
  recordCount: 1,
  bytes: 2,
  contentSha256: 'a digest',
  validation: valid ? { valid, findings: [] } : validate([]),
});
const draft = { id: 'dst_1', projectId: 'prj_1', name: ' Capitals ', createdBy: 'usr_1', createdAt: at };
const dataset = (over: Partial<Dataset> = {}, valid = true) => ({ ...Dataset.create(draft, content(valid)), ...over });
const code = (act: () => unknown): string => {
  try {
    act();
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('Dataset', () => {
  it('refuses a frozen dataset first, then an invalid one, then an old version', () => {
    const change = { name: 'New', content: null, by: 'usr_2', at: later };
    const frozen = dataset({ state: 'frozen' });
    expect(code(() => Dataset.update(frozen, [9], change))).toBe('dataset_frozen');
    expect(code(() => Dataset.update(dataset(), [1, 9], change))).toBe('stale_version');
    expect(code(() => Dataset.freeze(dataset({ state: 'frozen' }, false), [9], later))).toBe('dataset_frozen');
    expect(code(() => Dataset.freeze(dataset({}, false), [9], later))).toBe('dataset_invalid');
    expect(code(() => Dataset.freeze(dataset(), [9], later))).toBe('stale_version');
  });

  it('cuts the name of a fork to 200 characters, and counts forks of forks', () => {
    const nameOf = (name: string) =>
      Dataset.fork(dataset({ name }), { id: 'dst_3', createdBy: 'usr_2', createdAt: at }).name;
    expect(nameOf('🦆'.repeat(200))).toBe(`${'🦆'.repeat(193)} (fork)`);
    expect(nameOf(`${'🦆'.repeat(193)} (fork)`)).toBe(`${'🦆'.repeat(191)} (fork 2)`);
    expect(['Cities (fork)', 'Cities (fork 9)', '(fork)', 'A (fork) B'].map(nameOf)).toEqual([
      'Cities (fork 2)',
      'Cities (fork 10)',
      '(fork) (fork)',
      'A (fork) B (fork)',
    ]);
  });
});
