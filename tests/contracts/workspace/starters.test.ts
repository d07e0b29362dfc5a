import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../../src/domain/workspace/starter.js';
import { JsonStarterCatalog } from '../../../src/infrastructure/files/json-starter-catalog.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const aStarter = (id: string): Starter => ({
  id,
  name: `The ${id}`,
  description: 'For tests.',
  provenance: { source: 'made up', author: 'nobody', licence: 'CC0-1.0', date: '2024-02-29', method: 'by a test' },
  spec: {
    goal: 'Answer',
    task: 'chat',
    system_prompt: 'Be brief.',
    acceptance: { metric: 'exact', threshold: 0.9 },
    starter_id: id,
  },
  dataset: {
    name: 'Two records',
    records: [
      { id: 'one', group: 'numbers', input: '1 + 1?', expected: '2', fields: {} },
      { id: 'two', group: 'letters', input: 'After a?', expected: 'b', fields: { hint: 'ä' } },
    ],
  },
});

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

/** Makes a fresh folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(temporary.path, 'starters');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
const filesOf = (starters: readonly Starter[]) =>
  Object.fromEntries(starters.map((one) => [`${one.id}.json`, JSON.stringify(one)]));

describe('StarterCatalog of a folder of JSON files', () => {
  const added = ['colours', 'capital-cities', 'capital', 'sums-2', 'sums-10'].map(aStarter);
  const starters = new JsonStarterCatalog(folderOf(filesOf(added)));

  it('lists all starters, ordered by id', async () => {
    const sorted = ['capital', 'capital-cities', 'colours', 'sums-10', 'sums-2'].map(aStarter);
    expect(await starters.all()).toEqual(sorted);
    expect(await new JsonStarterCatalog(folderOf({})).all()).toEqual([]);
  });

  it('returns null for an unknown id', async () => {
    for (const id of ['', 'Colours', 'colours ', 'sums', '../capital', 'capital.json', '__proto__', 'constructor'])
      expect(await starters.find(id)).toBeNull();
  });

  it('returns frozen starters', async () => {
    ((await starters.all()) as Starter[]).pop();
    expect(await starters.all()).toHaveLength(added.length);
    const one = (await starters.find('colours')) as Starter;
    for (const part of [one, one.provenance, one.spec.acceptance, one.dataset.records, one.dataset.records[1]?.fields])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it('reads the folder once, at the start', async () => {
    const starters = new JsonStarterCatalog(folderOf(filesOf([aStarter('one')])));
    folderOf({});
    expect(await starters.find('one')).toEqual(aStarter('one'));
  });

  it('accepts records without fields, a spec without system prompt, and other files in the folder', async () => {
    const { dataset, spec, ...rest } = aStarter('one');
    const { system_prompt: _, ...short } = spec;
    const records = dataset.records.map(({ fields: __, ...record }) => record);
    const text = JSON.stringify({ ...rest, spec: short, dataset: { ...dataset, records } });
    const [starter] = await new JsonStarterCatalog(folderOf({ 'one.json': text, 'README.md': '# Starters' })).all();
    expect(starter?.spec).toEqual(short);
    expect(starter?.dataset.records.map(({ fields }) => fields)).toEqual([{}, {}]);
  });

  it('refuses a missing folder', () => {
    expect(() => new JsonStarterCatalog(join(temporary.path, 'missing'))).toThrow(/missing/);
  });

  it('throws an error that names the file if a file is not JSON', () => {
    const open = () => new JsonStarterCatalog(folderOf({ ...filesOf([aStarter('one')]), 'two.json': '{"id": ' }));
    expect(open).toThrow(/two\.json cannot be used: .*JSON/);
  });

  const record = 'dataset.records.1';
  it.each<[string, string, unknown]>([
    ['id: must be the name of the file', 'id', 'two'],
    ['name: must not be empty', 'name', ' '],
    ['name: must not have characters', 'name', 'a\0'],
    ['name: must not have characters', 'name', '\ud800'],
    ['description: Invalid input', 'description', undefined],
    ['Unrecognized key: "more"', 'more', 1],
    ['provenance: Invalid input', 'provenance', null],
    ['provenance.licence: must not be empty', 'provenance.licence', ''],
    ['provenance.date: Invalid ISO date', 'provenance.date', '2026-02-29'],
    ['provenance.date: Invalid ISO date', 'provenance.date', '2026'],
    ['spec.goal: Invalid input', 'spec.goal', undefined],
    ['spec.system_prompt: Invalid input', 'spec.system_prompt', null],
    ['spec: Unrecognized key: "systemPrompt"', 'spec.systemPrompt', 'x'],
    ['spec.starter_id: must be the id of the starter', 'spec.starter_id', 'two'],
    ['spec.acceptance.threshold: Too big', 'spec.acceptance.threshold', 90],
    ['spec.acceptance.threshold: Invalid input', 'spec.acceptance.threshold', '0.9'],
    ['dataset.records: Invalid input', 'dataset.records', {}],
    ['dataset.records: Too small', 'dataset.records', []],
    ['dataset.records: must have different ids', `${record}.id`, 'one'],
    [`${record}.group: Invalid input`, `${record}.group`, undefined],
    [`${record}.input: must not be empty`, `${record}.input`, ''],
    [`${record}.fields.hint: Invalid input`, `${record}.fields.hint`, {}],
    [`${record}: Unrecognized key: "answer"`, `${record}.answer`, 'x'],
  ])('refuses a file with the problem "%s" (%#)', (line, path, value) => {
    const starter = structuredClone(aStarter('one'));
    const names = path.split('.');
    const last = names.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: a path leads to values of any type
    const place = names.reduce<any>((at, name) => at[name], starter);
    place[last] = value;
    const folder = folderOf({ 'one.json': JSON.stringify(starter) });
    expect(() => new JsonStarterCatalog(folder)).toThrow(
      `The starter in ${join(folder, 'one.json')} cannot be used: ${line}`,
    );
  });

  it.each(['One.json', 'one two.json', '-one.json', '.json', 'one_two.json'])('refuses a file named %s', (name) => {
    const text = JSON.stringify({ ...aStarter('one'), id: name.replace('.json', '') });
    expect(() => new JsonStarterCatalog(folderOf({ [name]: text }))).toThrow('cannot be used: id: ');
  });
});
