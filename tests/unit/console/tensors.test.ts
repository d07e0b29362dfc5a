import {
  bodyOf,
  curlOf,
  type Entry,
  exampleEntry,
  findingOf,
  inMode,
  modesOf,
  shapeText,
  tablesOf,
} from '../../../src/interfaces/web/console/pages/deployments/tensors.js';

const spec = (datatype: string, shape: readonly number[], name = 'x') => ({ name, datatype, shape });
const sent = (one: ReturnType<typeof spec>, entry: Entry = exampleEntry(one)) => {
  const made = bodyOf([one], { [one.name]: entry });
  if ('findings' in made) return made.findings;
  return JSON.parse(made.body).inputs[one.name];
};

describe('the form of a prediction', () => {
  it('has an example that fits each shape and datatype', () => {
    expect(sent(spec('FP32', [-1, 4]))).toEqual([[0.5, 0.5, 0.5, 0.5]]);
    expect(sent(spec('INT64', []))).toBe(1);
    expect(sent(spec('BYTES', [-1]))).toEqual(['text']);
    expect(sent(spec('BOOL', [2, 1, 2]))).toEqual([[[false, false]], [[false, false]]]);
    expect(sent(spec('UINT8', [5, 4]))).toEqual(Array(5).fill([1, 1, 1, 1]));
    expect(sent(spec('FP16', [0]))).toEqual([]);
    const picture = sent(spec('FP32', [-1, 3, 224, 224]));
    expect(picture.shape).toEqual([1, 3, 224, 224]);
    expect(picture.data).toHaveLength(3 * 224 * 224);
  });

  it('has a field for each of a few elements, JSON for more, and one value for very many', () => {
    expect(modesOf(spec('FP32', [-1, 16]))).toEqual(['cells', 'json']);
    expect(modesOf(spec('FP32', [17]))).toEqual(['json']);
    expect(modesOf(spec('FP32', [3, 224, 224]))).toEqual(['fill', 'json']);
    expect([shapeText([]), shapeText([-1, 4])]).toEqual(['one value', 'any × 4']);
  });

  it('keeps the values from fields to JSON and back, if they fit', () => {
    const row = spec('FP32', [-1, 2]);
    const text = inMode(row, { mode: 'cells', cells: ['1.5', '-2e3'] }, 'json');
    expect(text).toEqual({ mode: 'json', text: '[[1.5, -2e3]]' });
    expect(inMode(row, text, 'cells')).toEqual({ mode: 'cells', cells: ['1.5', '-2000'] });
    expect(inMode(row, { mode: 'json', text: '[[1, 2], [3, 4]]' }, 'cells')).toEqual(exampleEntry(row));
    expect(inMode(row, { mode: 'json', text: '[' }, 'cells')).toEqual(exampleEntry(row));
  });

  it('sends numbers exactly as typed, and what is none as text, which the service refuses', () => {
    const made = bodyOf([spec('INT64', [4])], { x: { mode: 'cells', cells: ['9007199254740993', ' .5', 'two', ''] } });
    expect(made).toEqual({ body: '{"inputs": {"x": [9007199254740993, 0.5, "two", ""]}}' });
    const flags = { x: { mode: 'cells', cells: ['true', 'yes'] } } as const;
    expect(bodyOf([spec('BOOL', [2])], flags)).toEqual({ body: '{"inputs": {"x": [true, "yes"]}}' });
    const quoted = { 'a"b': { mode: 'cells', cells: ['it\'s "so"'] } } as const;
    const { body } = bodyOf([spec('BYTES', [1], 'a"b')], quoted) as { body: string };
    expect(JSON.parse(body)).toEqual({ inputs: { 'a"b': ['it\'s "so"'] } });
    expect(curlOf('http://host/predict', body)).toContain(`"it'\\''s \\"so\\""`);
  });

  it('names inputs that are no JSON as the service does', () => {
    expect(sent(spec('FP32', [17]), { mode: 'json', text: '[1,' })).toEqual([
      { path: 'inputs.x', message: expect.any(String) },
    ]);
    const findings = [
      { path: 'inputs.xy', message: 'another' },
      { path: 'inputs.x.shape', message: 'of this one' },
    ];
    expect(findingOf(findings, spec('FP32', [1]))?.message).toBe('of this one');
    expect(findingOf(findings, spec('FP32', [1], 'y'))).toBeUndefined();
  });
});

describe('the answer to a prediction', () => {
  it('has a row for each sample, with the outputs of as many samples side by side', () => {
    const label = { datatype: 'INT64', shape: [2], data: [0, 2] };
    const shares = { datatype: 'FP32', shape: [2, 2], data: [0.123456789, 1, [0.25], 0.5] };
    const total = { datatype: 'FP32', shape: [], data: 7 };
    expect(tablesOf({ label, shares, total })).toEqual([
      {
        columns: ['label', 'shares 1', 'shares 2'],
        rows: [
          ['0', '0.123457', '1'],
          ['2', '0.25', '0.5'],
        ],
        leftOut: null,
      },
      { columns: ['total'], rows: [['7']], leftOut: null },
    ]);
  });

  it('leaves out what a table cannot show, and says so', () => {
    const [table] = tablesOf({ big: { datatype: 'FP32', shape: [60, 30], data: Array(1_800).fill(1) } });
    expect([table?.rows.length, table?.columns.length]).toEqual([50, 20]);
    expect(table?.leftOut).toBe('50 of 60 rows, 20 of 30 columns');
  });
});
