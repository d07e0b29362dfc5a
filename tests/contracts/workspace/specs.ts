import type { JsonObject } from '../../../src/domain/workspace/json.js';

/** Specs that a store could easily change: what teams put there is theirs. */
export const specs: [string, JsonObject][] = [
  ['empty', {}],
  ['keys in their order, also those that look like numbers', parsed('{"b":1,"a":2,"10":3,"9":4,"":5}')],
  ['null, false, 0 and empty values', { a: null, b: false, c: 0, d: '', e: [], f: {}, g: [null, [], {}] }],
  ['numbers to the last digit', { a: 0.1, b: 1e300, c: 5e-324, d: 9007199254740991, e: -1.5, f: 1e21 }],
  ['text of any kind', { text: 'Grüße 王秀英 🦆 \u2028 "\\ \' \b\t\n $1 :name %s' }],
  [
    'names that mean something to JavaScript',
    parsed('{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3}'),
  ],
  ['depth', parsed(`${'{"a":['.repeat(15)}1${']}'.repeat(15)}`)],
  ['length', { text: 'x'.repeat(200_000) }],
];

function parsed(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
