import { fieldOf, withField } from '../../../src/interfaces/web/console/shared/spec/fields.js';

describe('a field of a spec', () => {
  const spec = { goal: 'x', acceptance: { metric: 'exact', threshold: 0.9 }, list: [1] };

  it('is read by its path', () => {
    expect(fieldOf(spec, 'acceptance.threshold')).toBe(0.9);
    expect(fieldOf(spec, 'goal.length')).toBeUndefined();
    expect(fieldOf(spec, 'other.deep')).toBeUndefined();
  });

  it('is set without changing others; an empty text removes it, and then its object if that is empty', () => {
    const changed = (path: string, value: unknown, before: object = spec) =>
      JSON.parse(withField(before as typeof spec, path, value));
    expect(changed('acceptance.threshold', 0)).toEqual({ ...spec, acceptance: { metric: 'exact', threshold: 0 } });
    expect(changed('acceptance.field', 'city', {})).toEqual({ acceptance: { field: 'city' } });
    expect(changed('goal', '')).toEqual({ acceptance: spec.acceptance, list: [1] });
    expect(changed('acceptance.metric', '', { acceptance: { metric: 'exact' } })).toEqual({});
    expect(changed('goal.part', 'y')).toEqual({ ...spec, goal: { part: 'y' } });
    expect(spec.acceptance.threshold).toBe(0.9);
  });
});
