import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { validate } from '../../../src/domain/workspace/dataset-validation.js';

const at = new Date(Date.UTC(2026, 0, 1));
const later = new Date(Date.UTC(2026, 0, 2));
const content = (valid = true) => ({
  recordCount: 1,
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

describe('a dataset', () => {
  it('begins editable, at version 1, with its name trimmed', () => {
    expect(dataset()).toMatchObject({ name: 'Capitals', version: 1, state: 'editable', frozenAt: null, updatedAt: at });
  });

  it.each(['', '  ', '🦆'.repeat(201)])('has a name of 1 to 200 characters (%#)', (name) => {
    expect(code(() => Dataset.create({ ...draft, name }, content()))).toBe('invalid_request');
    const change = { name, content: null, by: 'usr_1', at };
    expect(code(() => Dataset.update(dataset(), [1], change))).toBe('invalid_request');
    expect(Dataset.create({ ...draft, name: '🦆'.repeat(200) }, content()).name).toHaveLength(400);
  });

  it('has a next version with what has changed', () => {
    const change = { content: { ...content(), recordCount: 7 }, by: 'usr_2', at: later };
    expect(Dataset.update(dataset(), [1, 1], change)).toEqual(
      dataset({ version: 2, recordCount: 7, updatedBy: 'usr_2', updatedAt: later }),
    );
  });

  it('is frozen at the version that it has', () => {
    expect(Dataset.freeze(dataset({ version: 3 }), [], later)).toEqual(
      dataset({ version: 3, state: 'frozen', frozenAt: later }),
    );
  });

  it('refuses in the promised order', () => {
    const change = { name: 'New', content: null, by: 'usr_2', at: later };
    const frozen = dataset({ state: 'frozen' });
    expect(code(() => Dataset.update(frozen, [9], change))).toBe('dataset_frozen');
    expect(code(() => Dataset.update(dataset(), [1, 9], change))).toBe('stale_version');
    expect(code(() => Dataset.freeze(dataset({ state: 'frozen' }, false), [9], later))).toBe('dataset_frozen');
    expect(code(() => Dataset.freeze(dataset({}, false), [9], later))).toBe('dataset_invalid');
    expect(code(() => Dataset.freeze(dataset(), [9], later))).toBe('stale_version');
  });

  it('is forked into an editable copy that says where it is from', () => {
    const original = dataset({ version: 4, state: 'frozen', frozenAt: later });
    const fork = Dataset.fork(original, { id: 'dst_2', createdBy: 'usr_2', createdAt: later });
    expect(fork).toEqual({
      ...dataset(),
      id: 'dst_2',
      name: 'Capitals (fork)',
      forkedFrom: { datasetId: 'dst_1', version: 4 },
      createdBy: 'usr_2',
      createdAt: later,
      updatedBy: 'usr_2',
      updatedAt: later,
    });
    const long = Dataset.fork(dataset({ name: '🦆'.repeat(200) }), { id: 'dst_3', createdBy: 'usr_2', createdAt: at });
    expect(long.name).toBe(`${'🦆'.repeat(193)} (fork)`);
  });
});
