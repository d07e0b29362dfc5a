import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { Service } from '../support/service.js';
import { completions, type Member, readyProject, register } from '../support/workspace.js';

describe('starters', () => {
  let service: Service;
  let admin: Member;
  let member: Member;

  beforeAll(async () => {
    service = await Service.start();
    admin = await register(service, 'Ada');
    member = await register(service, 'Mia');
  });
  afterAll(() => service.stop());

  const projects = '/v1/projects';
  const folder = join(__dirname, '../../starters');
  const shipped = (id: string): Starter => JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));

  it('are listed for every member of a team, by id, with provenance and records', async () => {
    const { status, body } = await service.get('/v1/project-starters', member.token);
    expect(status).toBe(200);
    const ids = readdirSync(folder).map((name) => name.replace('.json', ''));
    expect(body.starters.map(({ id }: { id: string }) => id)).toEqual(ids.sort());
    expect(body.count).toBe(ids.length);

    const { dataset, ...cities } = shipped('capital-cities');
    const listed = body.starters.find(({ id }: { id: string }) => id === 'capital-cities');
    expect(listed).toEqual({
      ...cities,
      dataset: {
        name: dataset.name,
        record_count: dataset.records.length,
        groups: ['europe', 'asia', 'africa', 'americas'],
        records: dataset.records.map((record) => ({ ...record, fields: {} })),
      },
    });
    expect(Object.keys(listed.provenance)).toEqual(['source', 'author', 'licence', 'date', 'method']);
  });

  it.each([
    ['starter_id', { starter_id: 'capital-cities' }],
    ['starter', { starter: 'capital-cities' }],
    ['both', { starter: 'capital-cities', starter_id: 'capital-cities' }],
  ])('begin a project, named by %s', async (_, json) => {
    const { status, body } = await service.post(projects, admin.token, json);
    const { name, spec } = shipped('capital-cities');
    expect({ status, name: body.name, spec: body.spec }).toEqual({ status: 201, name, spec });
    expect(body).toMatchObject({ status: 'draft', version: 1, created_by: admin.id, models: [] });
    expect((await service.get(`${projects}/${body.id}`, member.token)).body).toEqual(body);
  });

  it('begin a project with a name of its own, whose spec then goes its own way', async () => {
    const { body } = await service.post(projects, admin.token, { name: 'Ours', starter_id: 'support-triage' });
    expect(body.name).toBe('Ours');
    const spec = { ...body.spec, goal: 'Something else' };
    const update = await service.put(`${projects}/${body.id}`, admin.token, { version: 1, spec });
    expect(update).toMatchObject({ status: 200, body: { spec: { goal: 'Something else' } } });
    const other = await service.post(projects, admin.token, { starter_id: 'support-triage' });
    expect(other.body.spec).toEqual(shipped('support-triage').spec);
  });

  const id = 'capital-cities';
  it.each([
    ['starter_id', { starter_id: 'capitals' }],
    ['starter_id', { starter: 'capitals' }],
    ['starter_id', { starter_id: '__proto__' }],
    ['starter_id', { starter_id: '' }],
    ['starter_id', { starter_id: 7 }],
    ['starter', { starter: 'word-problems', starter_id: id }],
    ['spec', { starter_id: id, spec: {} }],
    ['spec', { starter: id, spec: { goal: 'Mine' } }],
    ['name', { starter_id: id, name: ' ' }],
  ])('are refused with a bad %s (%#)', async (path, json) => {
    const { status, body } = await service.post(projects, admin.token, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it.each<[string, (answer: string, expected: string) => boolean]>([
    ['capital-cities', (answer, expected) => answer.toLowerCase().includes(expected.toLowerCase())],
    ['exact-repetition', (answer, expected) => answer === expected],
  ])('fit what the shipped model has learned: %s', async (starterId, right) => {
    const { spec, dataset } = shipped(starterId);
    const project = await readyProject(service, admin.token);
    const system = spec.system_prompt ? [{ role: 'system', content: spec.system_prompt }] : [];
    let score = 0;
    for (const { input, expected } of dataset.records) {
      const messages = [...system, { role: 'user', content: input }];
      const json = { model: project, messages, temperature: 0 };
      const { body } = await service.post(completions(project), admin.token, json);
      if (right(body.choices[0].message.content, expected as string)) score += 1 / dataset.records.length;
    }
    expect(score).toBeGreaterThanOrEqual((spec.acceptance as { threshold: number }).threshold);
  });
});
