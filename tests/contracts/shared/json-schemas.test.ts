import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { schemas } from '../../support/json-schemas.js';

const place = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['city'],
  additionalProperties: false,
};

/** A schema whose check of `endlessText` takes for ever. */
const endless = (n = 0) => ({ description: String(n), pattern: '^(a|a)*$' });
const endlessText = JSON.stringify(`${'a'.repeat(60)}!`);

describe('JSON schemas', () => {
  it.each<[JsonObject, string, boolean]>([
    [place, '{"city": "Paris", "people": 7}', true],
    [place, '{"city": "Paris", "people": -7}', false],
    [place, '{"people": 7}', false],
    [place, 'Paris', false],
    [place, '', false],
    [{ $ref: '#/$defs/tree', $defs: { tree: { items: { $ref: '#/$defs/tree' } } } }, '[[], [[]]]', true],
    [{ prefixItems: [{ const: 1 }], items: false }, '[1, 2]', false],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ const: 1 }], additionalItems: false },
      '[1]',
      true,
    ],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'a', const: 1 }, '1', true],
    [{ $id: 'a', const: 2 }, '2', true],
    [{ format: 'email', unknown: 1 }, '"x"', true],
    [{ required: ['toString'] }, '{}', false],
  ])('accept only texts that match: the schema %j, the text %s, accepted: %s', async (schema, text, accepted) => {
    expect([await schemas.problem(schema, 'ada'), await schemas.accepts(schema, text, 'ada')]).toEqual([
      null,
      accepted,
    ]);
  });

  it.each<[JsonObject, RegExp]>([
    [{ type: 'text' }, /type/],
    [{ $ref: '#/$defs/none' }, /none/],
    [{ $ref: 'http://127.0.0.1/other.json' }, /other\.json/],
    [{ pattern: '(' }, /regular expression/],
    [{ items: [] }, /items/],
  ])('explain why they cannot be used: %j', async (schema, problem) => {
    expect(await schemas.problem(schema, 'ada')).toMatch(problem);
    expect(await schemas.accepts(schema, '1', 'ada')).toBe(false);
  });

  it('end a check that would take forever, without a delay for other checks or this thread', async () => {
    const began = performance.now();
    const took = () => performance.now() - began;
    const slow = schemas.accepts(endless(), endlessText, 'ada');
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(took()).toBeLessThan(500);
    expect(await schemas.accepts(place, '{"city": "Paris"}', 'ada')).toBe(true);
    expect(took()).toBeLessThan(1_000); // a slow check ends after a second
    expect(await slow).toBeNull();
  });

  it('end a check that would take all memory', async () => {
    const items = { items: { $ref: '#' }, minItems: 1 };
    const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { anyOf: [items, items] }]));
    const answer = await schemas.problem({ properties: wide }, 'ada');
    expect([null, 'takes too long to be checked']).toContain(answer);
    expect(await schemas.accepts(place, '{"city": "Paris"}', 'ada')).toBe(true);
  });

  it('check texts of owners in turns, if their checks are slow', async () => {
    const ended: string[] = [];
    const slow = (owner: string, n: number) =>
      schemas.accepts(endless(n), endlessText, owner).then(() => void ended.push(owner));
    const all = [1, 2, 3, 4].map((n) => slow('ada', n));
    await slow('bea', 5);
    expect(ended.filter((owner) => owner === 'ada').length).toBeLessThanOrEqual(2);
    await Promise.all(all);
  });
});
