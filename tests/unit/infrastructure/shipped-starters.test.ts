import { join } from 'node:path';
import { Project } from '../../../src/domain/workspace/project.js';
import { type Starter, starterGroups } from '../../../src/domain/workspace/starter.js';
import { JsonStarterCatalog } from '../../../src/infrastructure/files/json-starter-catalog.js';

const METRICS = ['exact', 'normalized', 'contains', 'numeric'];

describe('the shipped starters', () => {
  let all: readonly Starter[];
  beforeAll(async () => {
    all = await new JsonStarterCatalog(join(__dirname, '../../../starters')).all();
  });
  const each = (check: (starter: Starter) => unknown) => expect(all.filter((one) => !check(one))).toEqual([]);
  const eachRecord = (check: (record: Starter['dataset']['records'][number], starter: Starter) => unknown) =>
    each((starter) => starter.dataset.records.every((record) => check(record, starter)));

  it('are at least five', () => {
    expect(all.length).toBeGreaterThanOrEqual(5);
  });

  it('have 20 to 500 records with different ids and inputs', () => {
    each(({ dataset: { records } }) => records.length >= 20 && records.length <= 500);
    each(({ dataset: { records } }) => new Set(records.map(({ id }) => id)).size === records.length);
    each(({ dataset: { records } }) => new Set(records.map(({ input }) => input)).size === records.length);
  });

  it('have texts in their records, without spaces at the ends', () => {
    eachRecord(({ input, expected }) =>
      [input, expected].every((one) => typeof one === 'string' && one === one.trim()),
    );
    eachRecord(({ input, expected }) => input !== '' && expected !== '');
  });

  it('have groups of several records', () => {
    each((starter) => starterGroups(starter).length >= 2);
    eachRecord(({ group }, { dataset }) => dataset.records.filter((other) => other.group === group).length >= 2);
  });

  it('have a known metric that fits the expected answers', () => {
    const acceptanceOf = ({ spec }: Starter) => spec.acceptance as { metric: string; threshold: number };
    each((starter) => METRICS.includes(acceptanceOf(starter).metric));
    eachRecord(
      ({ expected }, starter) => acceptanceOf(starter).metric !== 'numeric' || /^-?\d+(\.\d+)?$/.test(`${expected}`),
    );
  });

  it('have a valid spec and name for a project', () => {
    const draft = { id: 'prj_1', teamId: 'tea_1', createdBy: 'usr_1', createdAt: new Date(0) };
    each(({ name, spec }) => Project.create({ ...draft, name, spec }).name === name);
  });

  it('list the groups of a starter in the order of its records', () => {
    const triage = all.find(({ id }) => id === 'support-triage') as Starter;
    expect(starterGroups(triage)).toEqual(['billing', 'access', 'bug', 'feature', 'other']);
  });
});
