import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../../src/domain/workspace/starter.js';
import { JsonStarters } from '../../../src/infrastructure/files/json-starters.js';
import { MemoryStarterCatalog } from '../../fakes/workspace/memory-starter-catalog.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { aStarter, startersContract } from './starters.contract.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

/** A fresh folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(temporary.path, 'starters');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
const filesOf = (starters: readonly Starter[]) =>
  Object.fromEntries(starters.map((one) => [`${one.id}.json`, JSON.stringify(one)]));

startersContract('memory', (starters) => new MemoryStarterCatalog(starters));
startersContract('a folder of JSON files', (starters) => new JsonStarters(folderOf(filesOf(starters))));

describe('Starters of a folder of JSON files', () => {
  it('are read once, at the start', async () => {
    const starters = new JsonStarters(folderOf(filesOf([aStarter('one')])));
    folderOf({});
    expect(await starters.find('one')).toEqual(aStarter('one'));
  });

  it('need no fields in a record, no system prompt, and no other files to be starters', async () => {
    const { dataset, spec, ...rest } = aStarter('one');
    const { system_prompt: _, ...short } = spec;
    const records = dataset.records.map(({ fields: __, ...record }) => record);
    const text = JSON.stringify({ ...rest, spec: short, dataset: { ...dataset, records } });
    const [starter] = await new JsonStarters(folderOf({ 'one.json': text, 'README.md': '# Starters' })).all();
    expect(starter?.spec).toEqual(short);
    expect(starter?.dataset.records.map(({ fields }) => fields)).toEqual([{}, {}]);
  });

  it('refuse a folder that is not there', () => {
    expect(() => new JsonStarters(join(temporary.path, 'missing'))).toThrow(/missing/);
  });

  it('refuse a file that is not JSON, by its name', () => {
    const open = () => new JsonStarters(folderOf({ ...filesOf([aStarter('one')]), 'two.json': '{"id": ' }));
    expect(open).toThrow(/two\.json cannot be used: .*JSON/);
  });

  const record = 'dataset.records.1';
  it.each<[string, string, unknown]>([
    ['id must be the name of the file', 'id', 'two'],
    ['name must be a text', 'name', ' '],
    ['name must not have characters', 'name', 'a\0'],
    ['name must not have characters', 'name', '\ud800'],
    ['description is missing', 'description', undefined],
    ['more is not known', 'more', 1],
    ['provenance must be an object', 'provenance', null],
    ['provenance.licence must be a text', 'provenance.licence', ''],
    ['provenance.method is missing', 'provenance.method', undefined],
    ['provenance.date must be a day', 'provenance.date', '21.11.2026'],
    ['provenance.date must be a day', 'provenance.date', '2026-02-29'],
    ['provenance.date must be a day', 'provenance.date', '2026'],
    ['spec must be an object', 'spec', []],
    ['spec.goal is missing', 'spec.goal', undefined],
    ['spec.task must be a text', 'spec.task', 7],
    ['spec.system_prompt must be a text', 'spec.system_prompt', null],
    ['spec.systemPrompt is not known', 'spec.systemPrompt', 'x'],
    ['spec.starter_id must be the id of the starter', 'spec.starter_id', 'two'],
    ['spec.acceptance.metric must be a text', 'spec.acceptance.metric', null],
    ['spec.acceptance.threshold must be a number from 0 to 1', 'spec.acceptance.threshold', 90],
    ['spec.acceptance.threshold must be a number from 0 to 1', 'spec.acceptance.threshold', '0.9'],
    ['dataset.records must be a list', 'dataset.records', {}],
    ['dataset.records must have 1 to 500 records', 'dataset.records', []],
    ['dataset.records must have 1 to 500 records', 'dataset.records', Array.from({ length: 501 }, () => ({}))],
    [`${record} must be an object`, record, 'x'],
    [`${record}.id must not be that of an earlier record`, `${record}.id`, 'one'],
    [`${record}.group is missing`, `${record}.group`, undefined],
    [`${record}.input must be a text`, `${record}.input`, ''],
    [`${record}.expected must be a text`, `${record}.expected`, 2],
    [`${record}.fields.hint must be a text`, `${record}.fields.hint`, {}],
    [`${record}.answer is not known`, `${record}.answer`, 'x'],
  ])('refuse a file in which %s (%#)', (line, path, value) => {
    const starter = structuredClone(aStarter('one'));
    const names = path.split('.');
    const last = names.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: goes wherever the path leads
    const place = names.reduce<any>((at, name) => at[name], starter);
    place[last] = value;
    const folder = folderOf({ 'one.json': JSON.stringify(starter) });
    expect(() => new JsonStarters(folder)).toThrow(
      `The starter in ${join(folder, 'one.json')} cannot be used: ${line}`,
    );
  });

  it.each(['One.json', 'one two.json', '-one.json', '.json', 'one_two.json'])('refuse a file named %s', (name) => {
    const text = JSON.stringify({ ...aStarter('one'), id: name.replace('.json', '') });
    expect(() => new JsonStarters(folderOf({ [name]: text }))).toThrow('id must be the name of the file');
  });
});
