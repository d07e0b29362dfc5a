/** Makes the form of a prediction from the metadata of a model, and the body of the request from the form. */

/** An input of a model, as the model's metadata describes it. A size of -1 means any size. */
export interface TensorSpec {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/** `cells`: a field for each element. `json`: nested arrays as text. `fill`: one value for all elements. */
export type Entry =
  | { readonly mode: 'cells'; readonly cells: readonly string[] }
  | { readonly mode: 'json'; readonly text: string }
  | { readonly mode: 'fill'; readonly value: string };

export interface EntryFinding {
  readonly path: string;
  readonly message: string;
}

const MOST_CELLS = 16;
/** The most elements that are edited as text. With more, typing would be slow. */
const MOST_AS_TEXT = 2_000;

/** Returns the shape of an example. Each size of -1 becomes 1. */
const exampleShape = ({ shape }: TensorSpec): number[] => shape.map((size) => (size < 0 ? 1 : size));

const countOf = (shape: readonly number[]): number => shape.reduce((count, size) => count * size, 1);

/** Returns a shape as text for people, such as `any × 4`. */
export const shapeText = (shape: readonly number[]): string =>
  shape.length === 0 ? 'one value' : shape.map((size) => (size < 0 ? 'any' : size)).join(' × ');

const exampleElement = (datatype: string): string =>
  ({ BYTES: 'text', BOOL: 'false' })[datatype] ?? (datatype.includes('FP') ? '0.5' : '1');

/** Returns an example entry that fits the shape of an input. */
export function exampleEntry(spec: TensorSpec): Entry {
  const count = countOf(exampleShape(spec));
  const element = exampleElement(spec.datatype);
  if (count >= 1 && count <= MOST_CELLS) return { mode: 'cells', cells: Array<string>(count).fill(element) };
  if (count > MOST_AS_TEXT) return { mode: 'fill', value: element };
  return { mode: 'json', text: tensorText(spec, Array<string>(count).fill(element)) };
}

/** Returns the possible modes of an input, the default mode first. */
export function modesOf(spec: TensorSpec): readonly Entry['mode'][] {
  const usual = exampleEntry(spec).mode;
  return usual === 'json' ? ['json'] : [usual, 'json'];
}

/** Returns the kept entry if it still fits the model, which may have changed. Otherwise returns the example. */
export function keptEntry(spec: TensorSpec, kept: Entry | undefined): Entry {
  const example = exampleEntry(spec);
  if (!kept || !modesOf(spec).includes(kept.mode)) return example;
  const fits = kept.mode !== 'cells' || (example.mode === 'cells' && kept.cells.length === example.cells.length);
  return fits ? kept : example;
}

/** Returns the entry in another mode. Keeps the values if they fit this mode. */
export function inMode(spec: TensorSpec, entry: Entry, mode: Entry['mode']): Entry {
  if (entry.mode === mode) return entry;
  if (entry.mode === 'cells' && mode === 'json') return { mode, text: tensorText(spec, entry.cells) };
  if (entry.mode === 'json' && mode === 'cells') return cellsOf(spec, entry.text) ?? exampleEntry(spec);
  if (mode === 'json') return { mode, text: '' };
  return exampleEntry(spec);
}

/** Returns an element as JSON. Invalid text becomes a string, so that the service explains the refusal. */
function elementText(datatype: string, typed: string): string {
  if (datatype === 'BYTES') return JSON.stringify(typed);
  const text = typed.trim();
  if (datatype === 'BOOL') return text === 'true' || text === 'false' ? text : JSON.stringify(text);
  if (/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return text;
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? String(number) : JSON.stringify(text);
}

/** Returns nested arrays of the example shape as text. Each line has one row of the last dimension. */
function tensorText(spec: TensorSpec, elements: readonly string[]): string {
  return nested(
    elements.map((element) => elementText(spec.datatype, element)),
    exampleShape(spec),
    '',
  );
}

function nested(elements: readonly string[], shape: readonly number[], indent: string): string {
  const [size, ...inner] = shape;
  if (size === undefined) return elements[0] ?? '0';
  if (inner.length === 0) return `[${elements.join(', ')}]`;
  if (size === 1) return `[${nested(elements, inner, indent)}]`;
  const width = elements.length / Math.max(size, 1);
  const parts = Array.from({ length: size }, (_, at) =>
    nested(elements.slice(at * width, (at + 1) * width), inner, `${indent}  `),
  );
  return `[\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}\n${indent}]`;
}

/** Reads nested arrays into cells. Returns null if the number of elements differs from the number of cells. */
function cellsOf(spec: TensorSpec, text: string): Entry | null {
  try {
    const elements = [JSON.parse(text)].flat(Number.POSITIVE_INFINITY);
    return elements.length === countOf(exampleShape(spec)) ? { mode: 'cells', cells: elements.map(String) } : null;
  } catch {
    return null;
  }
}

/**
 * Returns the body of `/predict`, or findings for the inputs that are not JSON. The body is text, so that long integers
 * stay exact. The paths of the findings are the same as in the service.
 */
export function bodyOf(
  specs: readonly TensorSpec[],
  entries: Readonly<Record<string, Entry>>,
): { readonly body: string } | { readonly findings: readonly EntryFinding[] } {
  const findings: EntryFinding[] = [];
  const parts = specs.map((spec) => {
    const text = valueText(spec, keptEntry(spec, entries[spec.name]));
    if (text === null) findings.push({ path: `inputs.${spec.name}`, message: 'must be JSON, such as [[1, 2]]' });
    return `${JSON.stringify(spec.name)}: ${text}`;
  });
  return findings.length > 0 ? { findings } : { body: `{"inputs": {${parts.join(', ')}}}` };
}

function valueText(spec: TensorSpec, entry: Entry): string | null {
  if (entry.mode === 'cells') return tensorText(spec, entry.cells);
  if (entry.mode === 'json') return isJson(entry.text) ? entry.text.trim() : null;
  const shape = exampleShape(spec);
  const data = Array<string>(countOf(shape)).fill(elementText(spec.datatype, entry.value)).join(',');
  return `{"shape": [${shape}], "data": [${data}]}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the finding about an input or about a part of it, such as its shape. */
export const findingOf = (findings: readonly EntryFinding[], { name }: TensorSpec): EntryFinding | undefined =>
  findings.find(({ path }) => path === `inputs.${name}` || path.startsWith(`inputs.${name}.`));

/** An output of a prediction. Its elements are in row order. */
interface OutputTensor {
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: unknown;
}

export type Outputs = Readonly<Record<string, OutputTensor>>;

/** Reads an answer of `/predict`. Integers of 16 digits or more become text, so that they are shown exactly. */
export function outputsOf(answer: string): Outputs {
  const exact = answer.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  );
  return (JSON.parse(exact) as { outputs: Outputs }).outputs;
}

export interface OutputTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The number of all rows and columns. The table has only the first of them. */
  readonly all: { readonly rows: number; readonly columns: number };
}

const MOST_ROWS = 50;
const MOST_COLUMNS = 20;

/** Returns tables of the outputs. Outputs with the same number of rows are in one table. */
export function tablesOf(outputs: Outputs): OutputTable[] {
  const byRows = new Map<number, Grid[]>();
  for (const [name, output] of Object.entries(outputs)) {
    const grid = gridOf(name, output);
    byRows.set(grid.rows, [...(byRows.get(grid.rows) ?? []), grid]);
  }
  return [...byRows].map(([rows, grids]) => tableOf(rows, grids));
}

interface Grid {
  readonly name: string;
  readonly rows: number;
  readonly width: number;
  readonly elements: readonly unknown[];
}

/** Makes a row of each sample, or of each row within samples that are too wide. A single wide row becomes a column. */
function gridOf(name: string, { shape, data }: OutputTensor): Grid {
  const isFlat = Array.isArray(data) && !Array.isArray(data[0]);
  const elements = isFlat ? data : [data].flat(Number.POSITIVE_INFINITY);
  const [samples = 1, ...rest] = shape;
  if (countOf(rest) <= MOST_COLUMNS) return { name, rows: samples, width: countOf(rest), elements };
  const width = shape.at(-1) ?? 1;
  const rows = countOf(shape.slice(0, -1));
  return rows === 1 ? { name, rows: width, width: 1, elements } : { name, rows, width, elements };
}

function tableOf(count: number, grids: readonly Grid[]): OutputTable {
  const cells = grids.flatMap(({ name, width, elements }) =>
    Array.from({ length: Math.min(width, MOST_COLUMNS) }, (_, at) => ({
      title: width === 1 ? name : `${name} ${at + 1}`,
      text: (row: number) => shownValue(elements[row * width + at]),
    })),
  );
  const shown = cells.slice(0, MOST_COLUMNS);
  const rows = Array.from({ length: Math.min(count, MOST_ROWS) }, (_, row) => shown.map(({ text }) => text(row)));
  const columns = grids.reduce((sum, { width }) => sum + width, 0);
  return { columns: shown.map(({ title }) => title), rows, all: { rows: count, columns } };
}

const shownValue = (value: unknown): string =>
  typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(6))) : String(value ?? '–');

/** Returns a command for a shell that sends the body. */
export const curlOf = (url: string, body: string): string =>
  [
    `curl ${url} \\`,
    `  -H "Authorization: Bearer $TENON_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
