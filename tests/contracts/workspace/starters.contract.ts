import type { StarterCatalog } from '../../../src/application/workspace/ports.js';
import type { Starter } from '../../../src/domain/workspace/starter.js';

export const aStarter = (id: string): Starter => ({
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

/** `open` makes a catalog of these, handed over in this order. */
export function startersContract(adapter: string, open: (starters: readonly Starter[]) => StarterCatalog) {
  describe(`StarterCatalog of ${adapter}`, () => {
    const given = ['colours', 'capital-cities', 'capital', 'sums-2', 'sums-10'].map(aStarter);
    let starters: StarterCatalog;
    beforeEach(() => {
      starters = open(given);
    });

    it('lists all of them, by id', async () => {
      const sorted = ['capital', 'capital-cities', 'colours', 'sums-10', 'sums-2'].map(aStarter);
      expect(await starters.all()).toEqual(sorted);
      expect(await open([]).all()).toEqual([]);
    });

    it.each(['', 'Colours', 'colours ', 'sums', '../capital', 'capital.json', '__proto__', 'constructor'])(
      'finds none by an id that is unknown: %p',
      async (id) => {
        expect(await starters.find(id)).toBeNull();
      },
    );

    it('stays the same whatever is done to its answers', async () => {
      const attempt = (change: () => unknown) => {
        try {
          change();
        } catch {
          // refused, which is as good
        }
      };
      const answers = (await starters.all()) as unknown[];
      // biome-ignore lint/suspicious/noExplicitAny: does what the types forbid
      const one = (await starters.find('colours')) as any;
      attempt(() => answers.pop());
      attempt(() => Object.assign(one, { name: 'changed' }));
      attempt(() => Object.assign(one.provenance, { author: 'changed' }));
      attempt(() => Object.assign(one.spec.acceptance, { threshold: 0 }));
      attempt(() => one.dataset.records.pop());
      attempt(() => Object.assign(one.dataset.records[1].fields, { hint: 'changed' }));
      expect(await starters.find('colours')).toEqual(aStarter('colours'));
      expect(await starters.all()).toHaveLength(given.length);
    });
  });
}
