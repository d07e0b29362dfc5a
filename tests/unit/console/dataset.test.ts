import { type DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import {
  type Changes,
  carriedOver,
  countOf,
  newKey,
  noChanges,
  rebased,
  recordsOf,
  rowsOf,
  withChange,
} from '../../../src/interfaces/web/console/pages/datasets/changes.js';
import { guessed, mapOf, messagesIn, previewOf } from '../../../src/interfaces/web/console/pages/datasets/preview.js';
import {
  byRow,
  formatOf,
  joined,
  jsonBody,
  piecesOf,
} from '../../../src/interfaces/web/console/pages/datasets/source.js';
import {
  allFindings,
  furtherFields,
  isSame,
  parseExact,
} from '../../../src/interfaces/web/console/pages/datasets/values.js';
import { validate } from '../../support/datasets.js';

const record = (id: string, expected: unknown = 'yes', fields = {}) => ({
  id,
  group: null,
  input: 'q',
  expected,
  fields,
});

describe('the preview of a file to import', () => {
  const rowsOfText = (format: 'csv' | 'lines' | 'json', text: string, isWhole = true) =>
    previewOf(format, text, isWhole)?.rows;

  it.each<['csv' | 'lines' | 'json', string]>([
    ['csv', 'Question,Answer\r\n"a, ""b""\nc",d\r\n,\r\n'],
    ['lines', '{"Question":"a, \\"b\\"\\nc","Answer":"d"}\n\n{"Question":"","Answer":""}\n'],
    ['json', '{"name":"x","records":[{"Question":"a, \\"b\\"\\nc","Answer":"d"} , {"Question":"","Answer":""}]}'],
    ['json', ' [{"Question":"a, \\"b\\"\\nc","Answer":"d"},{"Question":"","Answer":""}]'],
  ])('has the rows of %s: %s', (format, text) => {
    const rows = [
      { Question: 'a, "b"\nc', Answer: 'd' },
      { Question: '', Answer: '' },
    ];
    expect(previewOf(format, text, true)).toEqual({ columns: ['Question', 'Answer'], rows });
    // The beginning of a long file may end anywhere.
    for (let end = text.lastIndexOf('d') + 5; end < text.length; end++)
      expect(rowsOfText(format, text.slice(0, end), false)?.[0]).toEqual(rows[0]);
  });

  it('has at most ten rows, and none of a text in another format', () => {
    expect(rowsOfText('csv', `a\n${'1\n'.repeat(50)}`)).toHaveLength(10);
    for (const text of ['', 'a,b', '{', '[1,2]', '{"a":1}'])
      for (const format of ['lines', 'json'] as const)
        if (!(format === 'lines' && text === '{"a":1}')) expect(previewOf(format, text, true)).toBeNull();
  });

  it('guesses the columns by usual names, and maps only those with another name', () => {
    const map = (...columns: string[]) => mapOf(guessed(columns));
    expect(map('Question', 'ANSWER')).toBe('input:Question,expected:ANSWER');
    expect(map('id', 'input', 'expected', 'answer')).toBe('');
    expect(map('prompt', 'completion', 'input')).toBe('expected:completion');
    expect(map('a', 'b')).toBe('');
  });

  it('finds chats', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(messagesIn({ messages, level: 1 })).toBe(messages);
    for (const row of [{ messages, input: 'x' }, { messages: [] }, { messages: [{ text: 'x' }] }, {}])
      expect(messagesIn(row)).toBeNull();
  });
});

describe('a file to import', () => {
  it('has the format of its file name, or else of its text', () => {
    expect(['a.CSV', 'a.json', 'a.jsonl', 'a.ndjson'].map((name) => formatOf(name, ''))).toEqual([
      'csv',
      'json',
      'lines',
      'lines',
    ]);
    expect(
      ['[{}]', '{"a":1}\n{"a":2}', '{"a":1}\n', '{"records":[]}', 'id,input'].map((text) => formatOf('', text)),
    ).toEqual(['json', 'lines', 'lines', 'json', 'csv']);
  });

  it('is divided into the rows that the service counts, and joined again without a change', () => {
    const csv = 'id,input\r\n\r\na,"two\nlines, ""quoted"""\r\nb,c\n';
    const pieces = piecesOf('csv', csv);
    expect(pieces.filter(({ row }) => row !== null)).toEqual([
      { text: 'a,"two\nlines, ""quoted"""\r', row: 0 },
      { text: 'b,c', row: 1 },
    ]);
    expect(joined('csv', pieces)).toBe(csv);
    const lines = '{"id":"a"}\n\n{"id":\n';
    expect(piecesOf('lines', lines).map(({ row }) => row)).toEqual([0, null, 1, null]);
    expect(joined('lines', piecesOf('lines', lines))).toBe(lines);
    const json = piecesOf('json', '{"records":[{"id":"a"},7]}');
    expect(json).toEqual([
      { text: '{\n  "id": "a"\n}', row: 0 },
      { text: '7', row: 1 },
    ]);
    expect(JSON.parse(joined('json', json))).toEqual([{ id: 'a' }, 7]);
    expect(piecesOf('json', 'no JSON')).toEqual([]);
  });

  it('is sent as JSON with its name, or unchanged if it is not a list of records', () => {
    expect(jsonBody('A "b"', ' [1.0]')).toBe('{"name":"A \\"b\\"","records": [1.0]}');
    expect(jsonBody('', '{"name":"x","records":[{"id":"a"}]}')).toBe('{"records":[{"id":"a"}]}');
    expect(jsonBody('x', '{"starter_id":"s"}')).toBe('{"starter_id":"s"}');
    expect(jsonBody('x', '{"records":')).toBe('{"records":');
  });

  it('has its findings by row, after the findings about the whole file', () => {
    const found = ['records.12.id', 'name', 'records.3', 'records.12.input'].map((path) => ({ path, message: path }));
    expect(byRow(found).map(({ row, findings }) => [row, findings.length])).toEqual([
      [null, 1],
      [3, 1],
      [12, 2],
    ]);
  });
});

describe('changes of records', () => {
  const saved = [record('a'), record('b'), record('b', 'second')];
  const changed = (): Changes => {
    let changes = withChange(noChanges(3), '1 b', record('b', 'changed'));
    changes = withChange(changes, '0 a', null);
    return withChange(changes, newKey(changes), record('new'));
  };

  it('distinguish records with the same id, and are undone one by one', () => {
    const rows = rowsOf(saved, changed());
    expect(rows.map(({ key, index, change }) => [key, index, change])).toEqual([
      ['0 a', 0, 'deleted'],
      ['0 b', 1, null],
      ['1 b', 2, 'changed'],
      ['+1', null, 'added'],
    ]);
    expect(recordsOf(rows).map(({ expected }) => expected)).toEqual(['yes', 'changed', 'yes']);
    expect(countOf(withChange(withChange(changed(), '0 a', undefined), '+1', null))).toBe(1);
    expect(newKey(changed())).toBe('+2');
  });

  it('are moved to a later version without a loss, and name the records that both sides changed', () => {
    const now = { version: 5, records: [record('a', 'theirs'), record('b'), record('c')] };
    const { changes, contested } = rebased(changed(), saved, now);
    expect(changes.version).toBe(5);
    expect(rowsOf(now.records, changes).map(({ record: { id, expected }, change }) => [id, expected, change])).toEqual([
      ['a', 'theirs', 'deleted'],
      ['b', 'yes', null],
      ['c', 'yes', null],
      ['new', 'yes', 'added'],
      ['b', 'changed', 'added'],
    ]);
    expect(contested).toEqual(['b', 'a']);
    const same = rebased(changed(), saved, { version: 4, records: [record('a'), record('b'), record('b', 'changed')] });
    expect([countOf(same.changes), same.contested]).toEqual([2, []]);
  });

  it('keep later edits that were made during the save', () => {
    const before = ['a', 'b', 'c', 'd', 'e'].map((id) => record(id));
    const changesOf = (records: Changes['records']): Changes => ({ version: 1, records });
    const sent = changesOf({
      ...{ '0 a': record('A'), '0 b': null, '0 c': record('c', 'once'), '0 d': null },
      ...{ '+1': record('new'), '+2': record('newer') },
    });
    const rows = rowsOf(before, sent);
    const saved = { version: 2, records: recordsOf(rows) };
    const over = (now: Changes['records']) => carriedOver(rows, before, changesOf(now), saved);
    expect(over(sent.records).changes).toEqual(noChanges(2));
    // The later edits: a is changed again, b stays deleted, the changes of c, d and +1 are undone,
    // +2 is changed again, e is deleted, and +3 is added.
    const { changes, keys } = over({
      ...{ '0 a': record('A', 'again'), '0 b': null },
      ...{ '+2': record('newer', 'again'), '0 e': null, '+3': record('newest') },
    });
    expect(changes.records).toEqual({
      ...{ '0 A': record('A', 'again'), '0 c': record('c'), '0 new': null, '0 newer': record('newer', 'again') },
      ...{ '0 e': null, '+3': record('newest'), '+4': record('d') },
    });
    expect(changes.version).toBe(2);
    expect([keys.get('+2'), keys.get('0 a'), keys.get('0 b')]).toEqual(['0 newer', '0 A', undefined]);
  });
});

describe('values of records', () => {
  it('are equal with any order of their members, and are parsed without a loss of digits', () => {
    expect(isSame({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] })).toBe(true);
    for (const [one, other] of [
      [{ a: 1 }, { a: 2 }],
      [{ a: undefined }, { b: undefined }],
      [[], {}],
      [null, {}],
      ['1', 1],
    ]) {
      expect(isSame(one, other)).toBe(false);
    }
    expect(parseExact('{"a":[1.5,"x"]}')).toEqual({ a: [1.5, 'x'] });
    expect(furtherFields([record('a', '', { x: 1 }), record('b', '', { y: 1, x: 2 })])).toEqual(['x', 'y']);
  });
});

it('finds in records what the service finds', () => {
  const record = (over: Partial<DatasetRecord>) => ({
    id: 'a',
    group: null,
    input: 0,
    expected: false,
    fields: {},
    ...over,
  });
  const empties = [null, '', ' \n', [], {}].map((input, at) => record({ id: `i${at}`, input, expected: input }));
  const long = record({ id: '🦆'.repeat(101), input: '' });
  for (const records of [[], [record({}), record({}), ...empties, long, record({ id: '🦆'.repeat(100), input: '' })]])
    expect(allFindings(records)).toEqual(validate(records, Number.POSITIVE_INFINITY).findings);
});
