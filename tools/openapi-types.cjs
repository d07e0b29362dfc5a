/**
 * Writes the types of the API from `openapi.json`, for the console and the tests. With `--check`, only compares them.
 * The types omit descriptions and examples, so that they change only with the interface.
 */
const Module = require('node:module');
const path = require('node:path');
const { contentOf, generate } = require('../dist/tools/generated-file.js');

// The generator needs the programming interface of TypeScript, which version 7 lacks. This package has an earlier one.
const { _load } = Module;
Module._load = (request, ...rest) =>
  request === 'typescript' ? require('@ts-morph/common').ts : _load(request, ...rest);
const { default: openapiTS, astToString } = require('openapi-typescript');

const PROSE = ['description', 'summary', 'example', 'examples', 'headers'];

/** Removes descriptions. The keys below `properties` are names of fields, so they stay. */
function withoutProse(node, areNames = false) {
  if (Array.isArray(node)) return node.map((part) => withoutProse(part));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => areNames || !PROSE.includes(key));
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutProse(part, !areNames && key === 'properties')]));
}

async function main() {
  const document = withoutProse(JSON.parse(contentOf('openapi.json')));
  // A field with a default may be left out of a request.
  const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
  generate(path.join('src', 'interfaces', 'web', 'console', 'shared', 'openapi-types.d.ts'), types, 'openapi');
}

void main();
