import { RuntimeId, Targets, type WantedTargets } from '../../../src/domain/chat/target.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';

const weighted = (...weights: readonly (readonly [string, number])[]) =>
  weights.map(([modelId, weight]) => ({ modelId, weight }));

const wanted = (over: Partial<WantedTargets>): WantedTargets => ({
  modelId: null,
  fallbacks: [],
  split: null,
  ...over,
});

/** Returns the paths of all problems. */
function problemsOf(over: Partial<WantedTargets>): string[] {
  try {
    Targets.of(wanted(over));
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    return (error.advice.details ?? []).map(({ path }) => path);
  }
}

describe('the targets of a runtime', () => {
  it('are a model with fallbacks, or a split, whose first model stands for the runtime', () => {
    expect(Targets.of(wanted({ modelId: 'a', fallbacks: ['b'] }))).toEqual({
      modelId: 'a',
      fallbacks: ['b'],
      split: null,
    });
    const split = weighted(['a', 9], ['b', 1]);
    expect(Targets.of(wanted({ split }))).toEqual({ modelId: 'a', fallbacks: [], split });
    expect(Targets.of(wanted({ modelId: 'b', split })).modelId).toBe('b');
  });

  it.each<[string, Partial<WantedTargets>, string[]]>([
    ['no model', {}, ['model_id']],
    ['only fallbacks', { fallbacks: ['b'] }, ['model_id']],
    ['the same model twice', { modelId: 'a', fallbacks: ['b', 'a'] }, ['fallbacks.1']],
    ['five models', { modelId: 'a', fallbacks: ['b', 'c', 'd', 'e'] }, ['fallbacks']],
    ['fallbacks and a split', { modelId: 'a', fallbacks: ['b'], split: weighted(['a', 1]) }, ['fallbacks']],
    ['a split without the model', { modelId: 'c', split: weighted(['a', 1], ['b', 1]) }, ['split']],
    ['a model twice in a split', { split: weighted(['a', 1], ['a', 1]) }, ['split.1.model_id']],
    ['a weight of 0', { split: weighted(['a', 1], ['b', 0]) }, ['split.1.weight']],
    ['a negative weight', { split: weighted(['a', -1]) }, ['split.0.weight']],
    ['a huge weight', { split: weighted(['a', 1_001]) }, ['split.0.weight']],
    ['five models of a split', { split: weighted(['a', 1], ['b', 1], ['c', 1], ['d', 1], ['e', 1]) }, ['split']],
  ])('refuse %s, and name the field', (_, over, paths) => {
    expect(problemsOf(over)).toEqual(paths);
  });

  it('are tried in their order, or after the one that is drawn by weight', () => {
    const inOrder = Targets.of(wanted({ modelId: 'a', fallbacks: ['b', 'c'] }));
    expect(Targets.order(inOrder, 0.99)).toEqual(['a', 'b', 'c']);
    const split = Targets.of(wanted({ split: weighted(['a', 6], ['b', 3], ['c', 1]) }));
    expect(Targets.order(split, 0)).toEqual(['a', 'b', 'c']);
    expect(Targets.order(split, 0.59)).toEqual(['a', 'b', 'c']);
    expect(Targets.order(split, 0.6)).toEqual(['b', 'a', 'c']);
    expect(Targets.order(split, 0.95)).toEqual(['c', 'a', 'b']);
    expect(['a', 'b', 'c'].map((id) => Targets.share(split, id))).toEqual([0.6, 0.3, 0.1]);
    expect(['a', 'b', 'c'].map((id) => Targets.share(inOrder, id))).toEqual([1, 0, 0]);
  });

  it('have runtimes that name their project and model', () => {
    const id = RuntimeId.of('prj_1', 'mdl_2');
    expect(RuntimeId.parts(id)).toEqual({ project: 'prj_1', model: 'mdl_2' });
  });
});
