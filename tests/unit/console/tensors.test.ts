import {
  bodyOf,
  curlOf,
  type Entry,
  exampleEntry,
  findingOf,
  inMode,
  keptEntry,
  modesOf,
  outputsOf,
  shapeText,
  tablesOf,
} from '../../../src/interfaces/web/console/pages/deployments/tensors.js';

const spec = (datatype: string, shape: readonly number[], name = 'x') => ({ name, datatype, shape });
const sent = (one: ReturnType<typeof spec>, entry: Entry = exampleEntry(one)) => {
  const result = bodyOf([one], { [one.name]: entry });
  if ('findings' in result) return result.findings;
  return JSON.parse(result.body).inputs[one.name];
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

  it('has a field for each of up to 16 elements, JSON for more, and also one repeated value for very many', () => {
    expect(modesOf(spec('FP32', [-1, 16]))).toEqual(['cells', 'json']);
    expect(modesOf(spec('FP32', [17]))).toEqual(['json']);
    expect(modesOf(spec('FP32', [3, 224, 224]))).toEqual(['fill', 'json']);
    expect([shapeText([]), shapeText([-1, 4])]).toEqual(['one value', 'any × 4']);
  });

  it('keeps the values when it changes from fields to JSON and back, if they fit', () => {
    const row = spec('FP32', [-1, 2]);
    const text = inMode(row, { mode: 'cells', cells: ['1.5', '-2e3'] }, 'json');
    expect(text).toEqual({ mode: 'json', text: '[[1.5, -2e3]]' });
    expect(inMode(row, text, 'cells')).toEqual({ mode: 'cells', cells: ['1.5', '-2000'] });
    expect(inMode(row, { mode: 'json', text: '[[1, 2], [3, 4]]' }, 'cells')).toEqual(exampleEntry(row));
    expect(inMode(row, { mode: 'json', text: '[' }, 'cells')).toEqual(exampleEntry(row));
  });

  it('keeps an entry while it fits the inputs of the model', () => {
    const row = spec('FP32', [-1, 2]);
    const kept = { mode: 'cells', cells: ['1', '2'] } as const;
    expect(keptEntry(row, kept)).toBe(kept);
    expect(keptEntry(spec('FP32', [3]), kept)).toEqual(exampleEntry(spec('FP32', [3])));
    expect(keptEntry(spec('FP32', [17]), kept)).toEqual(exampleEntry(spec('FP32', [17])));
  });

  it('sends numbers with all their digits, and other entries as text, which the service refuses', () => {
    const result = bodyOf([spec('INT64', [4])], {
      x: { mode: 'cells', cells: ['9007199254740993', ' .5', 'two', ''] },
    });
    expect(result).toEqual({ body: '{"inputs": {"x": [9007199254740993, 0.5, "two", ""]}}' });
    const flags = { x: { mode: 'cells', cells: ['true', 'yes'] } } as const;
    expect(bodyOf([spec('BOOL', [2])], flags)).toEqual({ body: '{"inputs": {"x": [true, "yes"]}}' });
    const quoted = { 'a"b': { mode: 'cells', cells: ['it\'s "so"'] } } as const;
    const { body } = bodyOf([spec('BYTES', [1], 'a"b')], quoted) as { body: string };
    expect(JSON.parse(body)).toEqual({ inputs: { 'a"b': ['it\'s "so"'] } });
    expect(curlOf('http://host/predict', body)).toContain(`"it'\\''s \\"so\\""`);
  });

  it('reports inputs that are not JSON with the paths of the service', () => {
    expect(sent(spec('FP32', [17]), { mode: 'json', text: '[1,' })).toEqual([
      { path: 'inputs.x', message: expect.any(String) },
    ]);
    const findings = [
      { path: 'inputs.xy', message: 'of another input' },
      { path: 'inputs.x.shape', message: 'of this input' },
    ];
    expect(findingOf(findings, spec('FP32', [1]))?.message).toBe('of this input');
    expect(findingOf(findings, spec('FP32', [1], 'y'))).toBeUndefined();
  });
});

describe('the answer to a prediction', () => {
  const outputsIn = (outputs: object) => outputsOf(JSON.stringify({ outputs }));

  it('has a row for each sample, with outputs of the same number of samples side by side', () => {
    const label = { datatype: 'INT64', shape: [2], data: [0, 2] };
    const shares = {
      datatype: 'FP32',
      shape: [2, 2],
      data: [
        [0.123456789, 1],
        [0.25, 0.5],
      ],
    };
    const total = { datatype: 'FP32', shape: [], data: 7 };
    expect(tablesOf(outputsIn({ label, shares, total }))).toEqual([
      {
        columns: ['label', 'shares 1', 'shares 2'],
        rows: [
          ['0', '0.123457', '1'],
          ['2', '0.25', '0.5'],
        ],
        all: { rows: 2, columns: 3 },
      },
      { columns: ['total'], rows: [['7']], all: { rows: 1, columns: 1 } },
    ]);
  });

  it('has a row for each row of a two-dimensional output, and for each value of a single wide row', () => {
    const sized = (shape: readonly number[]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      const data = Array.from({ length: count }, (_, at) => at);
      return tablesOf(outputsIn({ x: { datatype: 'FP32', shape, data } }))[0];
    };
    expect(sized([1, 6, 5])?.rows[1]).toEqual(['5', '6', '7', '8', '9']);
    expect(sized([1, 1_000])).toMatchObject({ columns: ['x'], all: { rows: 1_000, columns: 1 } });
    expect(sized([1, 1_000])?.rows).toHaveLength(50);
    const cut = sized([60, 30]);
    expect([cut?.rows.length, cut?.columns.length, cut?.all]).toEqual([50, 20, { rows: 60, columns: 30 }]);
  });

  it('shows all digits of integers that a JavaScript number cannot represent', () => {
    const text = '{"outputs":{"x":{"datatype":"INT64","shape":[3],"data":[9007199254740993,-9007199254740993,1]}}}';
    expect(tablesOf(outputsOf(text))[0]?.rows.flat()).toEqual(['9007199254740993', '-9007199254740993', '1']);
    const others = '{"outputs":{"1234567890123456789":{"data":[0.1234567890123456,1e-1234567890123456],"shape":[2]}}}';
    expect(outputsOf(others)['1234567890123456789']?.data).toEqual([0.1234567890123456, 0]);
  });
});
