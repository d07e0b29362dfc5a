import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { Provenance, Starter } from '../../domain/workspace/starter.js';

/** As many as a dataset may have. */
const MOST_RECORDS = 500;
const ID = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Throws at the first field that is missing, unknown or not as it must be, and names it. */
export function parseStarter(id: string, text: string): Starter {
  const file = new Part('', JSON.parse(text)).object(['id', 'name', 'description', 'provenance', 'spec', 'dataset']);
  file.id.must(ID.test(id) && file.id.text() === id, 'must be the name of the file, in small letters with hyphens');
  return {
    id,
    name: file.name.text(),
    description: file.description.text(),
    provenance: provenanceOf(file.provenance),
    spec: specOf(file.spec, id),
    dataset: datasetOf(file.dataset),
  };
}

function provenanceOf(part: Part): Provenance {
  const { source, author, licence, date, method } = part.object(['source', 'author', 'licence', 'date', 'method']);
  date.must(isDay(date.text()), 'must be a day, as YYYY-MM-DD');
  return {
    source: source.text(),
    author: author.text(),
    licence: licence.text(),
    date: date.text(),
    method: method.text(),
  };
}

/** Only fields that Tenon knows, so that a slip of the pen in their names is found. */
function specOf(part: Part, id: string): JsonObject {
  const { goal, task, acceptance, starter_id, system_prompt } = part.object(
    ['goal', 'task', 'acceptance', 'starter_id'],
    ['system_prompt'],
  );
  const { metric, threshold } = acceptance.object(['metric', 'threshold']);
  for (const one of [goal, task, metric]) one.text();
  system_prompt?.text();
  starter_id.must(starter_id.text() === id, 'must be the id of the starter');
  const { value } = threshold;
  threshold.must(typeof value === 'number' && value >= 0 && value <= 1, 'must be a number from 0 to 1');
  return part.value as JsonObject;
}

function datasetOf(part: Part): Starter['dataset'] {
  const { name, records } = part.object(['name', 'records']);
  const all = records.items();
  records.must(all.length >= 1 && all.length <= MOST_RECORDS, `must have 1 to ${MOST_RECORDS} records`);
  const ids = new Set<string>();
  return { name: name.text(), records: all.map((one) => recordOf(one, ids)) };
}

function recordOf(part: Part, taken: Set<string>): DatasetRecord {
  const { id, group, input, expected, fields } = part.object(['id', 'group', 'input', 'expected'], ['fields']);
  id.must(!taken.has(id.text()), 'must not be that of an earlier record');
  taken.add(id.text());
  const more = Object.entries(fields?.members() ?? {}).map(([name, field]) => [name, field.text()]);
  return {
    id: id.text(),
    group: group.text(),
    input: input.text(),
    expected: expected.text(),
    fields: Object.fromEntries(more),
  };
}

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${text}T`);
}

/** A value in the file and its place. To look at it as something that it isn't throws. */
class Part {
  constructor(
    private readonly path: string,
    readonly value: unknown,
  ) {}

  must(condition: boolean, message: string): void {
    if (!condition) throw this.wrong(message);
  }

  text(): string {
    const { value } = this;
    if (typeof value !== 'string' || value.trim() === '') throw this.wrong('must be a text that is not empty');
    this.must(value.isWellFormed() && !value.includes('\0'), 'must not have characters that no database stores');
    return value;
  }

  items(): Part[] {
    const { value } = this;
    if (!Array.isArray(value)) throw this.wrong('must be a list');
    return value.map((item, index) => this.at(index, item));
  }

  members(): Record<string, Part> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.wrong('must be an object');
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.at(name, member)]));
  }

  /** The members of an object that has all of `needed`, and beside them none but `possible`. */
  object<Needed extends string, Possible extends string = never>(
    needed: readonly Needed[],
    possible: readonly Possible[] = [],
  ): Record<Needed, Part> & Partial<Record<Possible, Part>> {
    const members = this.members();
    for (const name of needed) this.at(name, null).must(Object.hasOwn(members, name), 'is missing');
    const known: readonly string[] = [...needed, ...possible];
    for (const [name, member] of Object.entries(members)) member.must(known.includes(name), 'is not known');
    return members as Record<Needed, Part> & Partial<Record<Possible, Part>>;
  }

  private wrong(message: string): Error {
    return new Error(`${this.path || 'it'} ${message}`);
  }

  private at(name: string | number, value: unknown): Part {
    return new Part(this.path === '' ? `${name}` : `${this.path}.${name}`, value);
  }
}
