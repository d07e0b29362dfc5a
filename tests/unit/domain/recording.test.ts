import { Recording, recordFindings } from '../../../src/domain/record/recording.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';
import type { Json, JsonObject } from '../../../src/domain/workspace/json.js';
import { Project } from '../../../src/domain/workspace/project.js';

const own = (over: object = {}): Json => ({ name: 'customer', pattern: 'KD\\d+', ...over });
const pathsOf = (record: Json) => recordFindings('spec.record', record).map(({ path }) => path.slice('spec.'.length));

describe('the recording settings', () => {
  it('keep nothing if they are not valid', () => {
    for (const record of [7, [], { share: 2 }, { content: 'text' }] as Json[])
      expect(Recording.of({ record })).toMatchObject({ share: 0, content: 'none' });
  });

  it('have defaults', () => {
    const defaults = { share: 1, content: 'none', days: 30, mask: [] };
    for (const spec of [{}, { record: null }, { record: {} }] as JsonObject[])
      expect(Recording.of(spec)).toEqual(defaults);
    expect(Recording.of({ record: { share: null, content: null, days: null, mask: null } })).toEqual(defaults);
    const given = { share: 0.25, content: 'full', days: 365, mask: ['email', 'secret', own()] };
    expect(Recording.of({ record: given })).toEqual(given);
  });

  it.each<[Json, string[]]>([
    ['all', ['record']],
    [[], ['record']],
    [{ share: -0.1 }, ['record.share']],
    [{ share: '1' }, ['record.share']],
    [{ share: 1.1, content: 'text', days: 0 }, ['record.share', 'record.content', 'record.days']],
    [{ days: 366 }, ['record.days']],
    [{ days: 1.5 }, ['record.days']],
    [{ keep: true }, ['record.keep']],
    [{ mask: 'email' }, ['record.mask']],
    [{ mask: Array(21).fill('email') }, ['record.mask']],
    [{ mask: ['email', 'name', 7, null] }, ['record.mask.1', 'record.mask.2', 'record.mask.3']],
    [{ mask: ['email', 'email'] }, ['record.mask.1']],
    [{ mask: [own(), own()] }, ['record.mask.1.name']],
    [{ mask: [own({ name: 'email' })] }, ['record.mask.0.name']],
    [{ mask: [own({ name: 'No Slug' }), own({ name: '' })] }, ['record.mask.0.name', 'record.mask.1.name']],
    [{ mask: [own({ name: 'a'.repeat(31) })] }, ['record.mask.0.name']],
    [{ mask: [own({ pattern: '' })] }, ['record.mask.0.pattern']],
    [{ mask: [own({ pattern: 'a'.repeat(501) })] }, ['record.mask.0.pattern']],
    [{ mask: [own({ flags: 'i' })] }, ['record.mask.0.flags']],
    [{ mask: [own({ pattern: 'a'.repeat(500), name: 'a'.repeat(30) })] }, []],
  ])('name each wrong field: %j', (record, paths) => {
    expect(pathsOf(record)).toEqual(paths);
  });

  it('are checked with the specification of a project', () => {
    const draft = { id: 'prj_1', teamId: 'tea_1', createdBy: 'usr_1', createdAt: new Date(0) };
    const create = () => Project.create({ ...draft, spec: { record: { days: 0 } } });
    expect(create).toThrow(
      new InvalidRequest([{ path: 'spec.record.days', message: 'must be a whole number from 1 to 365' }]),
    );
  });

  it('refuse the patterns that have a problem', () => {
    const spec = { record: { mask: ['email', own(), own({ name: 'other', pattern: '(' })] } };
    const require = () => Recording.requirePatterns(spec, (pattern) => (pattern === '(' ? 'is wrong' : null));
    expect(require).toThrow(new InvalidRequest([{ path: 'spec.record.mask.2.pattern', message: 'is wrong' }]));
    expect(() => Recording.requirePatterns(spec, () => null)).not.toThrow();
  });
});
