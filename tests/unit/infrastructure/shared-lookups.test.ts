import { SharedLookups } from '../../../src/infrastructure/typeorm/shared-lookups.js';

const ages = { name: 'ages', text: 'SELECT key, row FROM ages($1::text[])' };
const names = { name: 'names', text: 'SELECT key, row FROM names($1::text[]) JOIN more ON key = ANY($1)' };

interface Asked {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Lookups, the statements that they lead to, and what these are answered with. */
function lookups(found: readonly object[] | Error, isRunning = false) {
  const asked: Asked[] = [];
  const prepared = async <Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> => {
    asked.push({ name, text, values });
    if (found instanceof Error) throw found;
    return found as Row[];
  };
  return { asked, shared: new SharedLookups({ isRunning, prepared }) };
}

describe('lookups that are asked for within a turn', () => {
  const ada = { name: 'Ada' };

  it('go in one statement, each key once, and each asker has their own answer', async () => {
    const found = [
      { kind: 1, key: 'a', row: ada },
      { kind: 0, key: 'a', row: { age: 36 } },
    ];
    const { asked, shared } = lookups(found);
    const keys = ['a', 'b', 'a'].map((key) => shared.ask(names, key));
    expect(await Promise.all([...keys, shared.ask(ages, 'a')])).toEqual([ada, null, ada, { age: 36 }]);
    expect(asked).toEqual([
      {
        name: 'ages, names',
        text:
          'SELECT 0 AS kind, key, row FROM (SELECT key, row FROM ages($1::text[])) AS found UNION ALL ' +
          'SELECT 1 AS kind, key, row FROM (SELECT key, row FROM names($2::text[]) JOIN more ON key = ANY($2)) AS found',
        values: [['a'], ['a', 'b']],
      },
    ]);
  });

  it('fail together', async () => {
    const { shared } = lookups(new Error('gone'));
    const outcomes = await Promise.allSettled([shared.ask(names, 'a'), shared.ask(names, 'a'), shared.ask(ages, 'b')]);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message)).toEqual(
      Array(3).fill('gone'),
    );
  });

  it('share nothing with what is asked later', async () => {
    const { asked, shared } = lookups([{ kind: 0, key: 'a', row: ada }]);
    for (const _ of [1, 2]) expect(await shared.ask(names, 'a')).toBe(ada);
    expect(asked).toHaveLength(2);
  });

  it('go alone inside of a unit of work, which sees what others do not', async () => {
    const { asked, shared } = lookups([{ kind: 0, key: 'a', row: ada }], true);
    expect(await Promise.all([shared.ask(names, 'a'), shared.ask(names, 'a')])).toEqual([ada, ada]);
    expect(asked).toHaveLength(2);
  });
});
