import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { differences, differingFields } from '../../../src/domain/workspace/dataset-comparison.js';
import { readRecords } from '../../../src/domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import { canonical, type Json } from '../../../src/domain/workspace/json.js';
import { nameFindings } from '../../../src/domain/workspace/project.js';
import { canonicalText, validate } from '../../support/datasets.js';

const record = (over: Partial<DatasetRecord> = {}): DatasetRecord => ({
  id: 'a',
  group: null,
  input: 'in',
  expected: 'out',
  fields: {},
  ...over,
});

describe('readRecords', () => {
  const problemsOf = (...sent: Json[]) =>
    readRecords(sent, 500).problems.map(({ path, message }) => `${path} ${message}`);

  it('keeps all other properties, and those within `fields`, under `fields`', () => {
    const sent = { id: 'a', group: 'g', input: { q: 1 }, expected: [2], level: 3, fields: { source: null } };
    expect(readRecords([sent], 500)).toEqual({
      records: [{ id: 'a', group: 'g', input: { q: 1 }, expected: [2], fields: { level: 3, source: null } }],
      problems: [],
    });
  });

  it('reads null and blank text as a missing id or group', () => {
    const sent: Json[] = [{}, { id: null, group: null }, { id: '', group: '' }, { id: ' ', group: '\t' }];
    const { records, problems } = readRecords(sent, 500);
    expect(problems).toEqual([]);
    expect(records.map(({ id, group }) => [id, group])).toEqual([1, 2, 3, 4].map((row) => [`row-${row}`, null]));
  });

  it('makes missing ids from the row numbers, and skips ids that exist already', () => {
    const ids = (...sent: Json[]) => readRecords(sent, 500).records.map(({ id }) => id);
    expect(ids({}, { id: 'row-1' }, {}, { id: 'row-4' }, {})).toEqual(['row-2', 'row-1', 'row-3', 'row-4', 'row-5']);
  });

  it('makes ids for 100,000 records in time, even if later records have the next numbers', () => {
    const sent = Array.from({ length: 100_000 }, (_, at): Json => (at < 50_000 ? {} : { id: `row-${at - 49_999}` }));
    expect(readRecords(sent, sent.length).records[49_999]?.id).toBe('row-100000');
  });

  it('treats a name such as __proto__ like any other name', () => {
    const sent = JSON.parse('{"__proto__":{"id":"x"},"constructor":1,"fields":{"toString":2}}') as Json;
    const { records, problems } = readRecords([sent], 500);
    expect(problems).toEqual([]);
    expect(JSON.stringify(records[0]?.fields)).toBe('{"__proto__":{"id":"x"},"constructor":1,"toString":2}');
    expect(records[0]?.id).toBe('row-1');
    expect(({} as { id?: string }).id).toBeUndefined();
  });

  it('does not iterate over a long text to find that it is too long', () => {
    const apart = jest.spyOn(String.prototype, Symbol.iterator as never);
    expect(problemsOf({ id: 'x'.repeat(5_000_000) })).toHaveLength(1);
    expect(nameFindings('x'.repeat(5_000_000))).toHaveLength(1);
    const long = apart.mock.contexts.filter((text) => String(text).length > 1000);
    apart.mockRestore();
    expect(long).toEqual([]);
  });

  it('lists 100 problems, and says how many more there are', () => {
    const problems = problemsOf(...Array.from({ length: 60 }, () => ({ id: 1, group: 1 })));
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe('records has 20 more problems');
  });
});

describe('readRecords with chat messages', () => {
  const user = { role: 'user', content: 'France?' };
  const system = { role: 'system', content: 'Be short.' };
  const assistant = { role: 'assistant', content: 'Paris' };
  const read = (row: Json) => {
    const { input, expected, fields } = readRecords([row], 1).records[0] as DatasetRecord;
    return [input, expected, fields];
  };

  it.each<[string, Json[], Json, Json]>([
    ['one question and its answer as texts', [user, assistant], 'France?', 'Paris'],
    ['more messages as a list', [system, user, assistant], [system, user], 'Paris'],
    ['an earlier answer as input', [user, assistant, user], [user, assistant, user], null],
    [
      'parts of text as text',
      [
        {
          ...user,
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        assistant,
      ],
      'ab',
      'Paris',
    ],
    [
      'calls of tools as the whole message',
      [user, { role: 'assistant', content: null, tool_calls: [] }],
      'France?',
      { role: 'assistant', content: null, tool_calls: [] },
    ],
    ['an answer without a question', [assistant], [], 'Paris'],
  ])('reads %s', (_, messages, input, expected) => {
    expect(read({ messages, level: 1 })).toEqual([input, expected, { level: 1 }]);
  });

  it.each<[string, { [name: string]: Json }]>([
    ['beside an input', { input: 'x', messages: [user, assistant] }],
    ['that are no messages', { messages: [user, 'text'] }],
    ['of an empty list', { messages: [] }],
  ])('keeps messages %s as a field', (_, row) => {
    expect(read(row)).toEqual([row.input ?? null, null, { messages: row.messages }]);
  });
});

describe('validate', () => {
  it('finds nothing wrong with correct records, also with 0 and false', () => {
    const records = [record(), record({ id: 'b', input: 0, expected: false })];
    expect(validate(records)).toEqual({ valid: true, count: 0, findings: [] });
  });

  it('finds repeated ids and empty inputs and expected answers, with row and id', () => {
    const empties: Json[] = [null, '', ' \n', [], {}];
    const records = [
      record(),
      record({ input: [0], expected: { a: null } }),
      ...empties.map((input, n) => record({ id: `i${n}`, input })),
      ...empties.map((expected, n) => record({ id: `e${n}`, expected })),
    ];
    const { valid, findings } = validate(records);
    expect(valid).toBe(false);
    expect(findings.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'duplicate_id records.1.id',
      ...[2, 3, 4, 5, 6].map((at) => `empty_input records.${at}.input`),
      ...[7, 8, 9, 10, 11].map((at) => `empty_expected records.${at}.expected`),
    ]);
    expect(findings[0]?.message).toBe('row 2 (id "a") has the id of row 1: ids must be unique');
  });

  it('lists 100 findings, and says how many more there are', () => {
    const { count, findings } = validate(Array.from({ length: 101 }, (_, n) => record({ id: `r${n}`, input: null })));
    expect([count, findings.length]).toEqual([101, 101]);
    expect(findings.at(-1)).toMatchObject({ code: 'more_findings', message: 'and 1 more findings' });
  });
});

describe('the canonical JSON of records', () => {
  const text = (...records: DatasetRecord[]) => canonicalText(records);

  it('gives one text for any order of the keys, and different texts for different records', () => {
    const [one, two] = [record({ fields: { a: 1, b: { c: [2], d: null } } }), record({ id: 'b' })];
    const { id, ...rest } = one;
    expect(text({ ...rest, fields: { b: { d: null, c: [2] }, a: 1 }, id }, two)).toBe(text(one, two));
    expect(text(two, one)).not.toBe(text(one, two));
    expect(text()).toBe('[]');
    expect(text(one)).toBe(canonical([{ ...one }]));
    expect(JSON.parse(text(one, two))).toEqual([one, two]);
  });
});

/** Compares records as the comparison of datasets does. */
function compareRecords(before: readonly DatasetRecord[], after: readonly DatasetRecord[]) {
  const found = differences(before, after, (one, other) => differingFields(one, other).length === 0);
  return {
    ...found,
    changed: found.changed.map((one) => ({
      id: one.after.id,
      fields: differingFields(one.before, one.after),
      ...one,
    })),
  };
}

describe('differences', () => {
  it('finds added, removed, changed and unchanged records', () => {
    const before = [record(), record({ id: 'gone' }), record({ id: 'b', fields: { x: 1, y: { p: 1, q: [2] } } })];
    const changed = record({ id: 'b', group: 'g', expected: { a: 1 }, fields: { y: { q: [2], p: 1 }, z: null } });
    const added = record({ id: 'new' });
    expect(compareRecords(before, [changed, added, record()])).toEqual({
      added: [added],
      removed: [before[1]],
      changed: [{ id: 'b', fields: ['group', 'expected', 'fields.x', 'fields.z'], before: before[2], after: changed }],
      unchanged: 1,
    });
  });

  it('compares records without making text of them', () => {
    const text = jest.spyOn(JSON, 'stringify');
    const [one, other] = [
      [1, { a: [2], b: {} }],
      [1, { b: {}, a: [2] }],
    ];
    const { changed, unchanged } = compareRecords([record({ input: one })], [record({ input: other })]);
    const differing: Json[] = [
      [1],
      [1, { a: [2] }],
      [1, { a: [2], c: {} }],
      [1, { a: [3], b: {} }],
      [1, { a: { 0: 2 }, b: {} }],
      {},
      null,
      'x',
    ];
    const differences = differing.map(
      (input) => compareRecords([record({ input: one })], [record({ input })]).changed.length,
    );
    const calls = text.mock.calls.length;
    text.mockRestore();
    expect({ changed, unchanged, calls }).toEqual({ changed: [], unchanged: 1, calls: 0 });
    expect(differences).toEqual(differing.map(() => 1));
  });

  it('pairs records with the same id in their order', () => {
    const [one, two, three] = [record({ input: 1 }), record({ input: 2 }), record({ input: 3 })];
    expect(compareRecords([one, two], [one, three, two])).toMatchObject({
      added: [two],
      removed: [],
      changed: [{ fields: ['input'], before: two, after: three }],
      unchanged: 1,
    });
  });

  it('compares a field with a name such as __proto__', () => {
    const odd = record({ fields: JSON.parse('{"__proto__":{},"constructor":1}') });
    const [change] = compareRecords([record()], [odd]).changed;
    expect(change?.fields).toEqual(['fields.__proto__', 'fields.constructor']);
  });
});

const at = new Date(Date.UTC(2026, 0, 1));
const later = new Date(Date.UTC(2026, 0, 2));
const content = (valid = true) => ({
  recordCount: 1,
  bytes: 2,
  contentSha256: 'a digest',
  validation: valid ? { valid, count: 0, findings: [] } : validate([]),
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
