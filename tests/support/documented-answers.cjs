const { readFileSync } = require('node:fs');
const path = require('node:path');
const Ajv2020 = require('ajv/dist/2020.js').default;
const { routerOf } = require('./routes.cjs');

const ID = 'openapi.json';
const document = JSON.parse(readFileSync(path.join(__dirname, '../..', ID), 'utf8'));
const ajv = new Ajv2020({
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  verbose: true,
  inlineRefs: false, // so that each schema is compiled once
  code: { optimize: false }, // takes longer than it saves here
});
ajv.addSchema(closed(document), ID);
const routeOf = routerOf(Object.keys(document.paths));

/** Forbids unknown fields, so that a test fails on an undocumented field. Consumers accept unknown fields. */
function closed(node) {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const own = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  if (node.allOf)
    return { ...own, allOf: node.allOf.map((part) => (part.$ref ? part : open(part))), unevaluatedProperties: false };
  const isObject = node.type === 'object' && node.properties && node.additionalProperties === undefined;
  return isObject ? { ...own, additionalProperties: false } : own;
}

/** Allows unknown fields in a part of `allOf`, because the whole forbids them. */
function open(part) {
  return { ...closed(part), additionalProperties: part.additionalProperties ?? true };
}

const pointer = (...parts) => parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns how an answer differs from the OpenAPI document, or null. Unknown routes must answer with the envelope. */
function undocumented(method, at, { status, body }) {
  const route = routeOf(at.split('?')[0]);
  const operation = document.paths[route]?.[method.toLowerCase()];
  if (!operation) {
    const vendor = /^\/openai\/v1\/messages(\/|$)/.test(at) ? 'AnthropicError' : 'OpenAiError';
    const form = at.startsWith('/openai/v1') ? vendor : body?.status === 'error' ? 'Error' : null;
    return status >= 400 && form ? mismatch(`${ID}#/components/schemas/${form}`, body) : null;
  }
  const declared = operation.responses[status];
  if (!declared) return `${ID} does not declare ${method} ${route} ${status} (\`npm run openapi\` after a change)`;
  const within = declared.$ref ?? `#${pointer('paths', route, method.toLowerCase(), 'responses', String(status))}`;
  const { content } = declared.$ref ? document.components.responses[declared.$ref.split('/').at(-1)] : declared;
  const ofText = typeof body === 'string' ? ['text/event-stream', 'application/octet-stream'] : [];
  const media = [...ofText, ...Object.keys(content)].find((type) => content[type]);
  const isStream = media === 'text/event-stream';
  const reference = `${ID}${within}${pointer('content', media, 'schema')}`;
  const wrong = isStream ? mismatches(reference, body) : mismatch(reference, body);
  return wrong && `${method} ${route} ${status} is not as ${ID} says: ${wrong} (\`npm run openapi\` after a change)`;
}

/** Compares the data of each event with the schema. */
function mismatches(reference, text) {
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data).filter((data) => data !== '[DONE]');
  return events.map((data) => mismatch(reference, JSON.parse(data))).find(Boolean);
}

function mismatch(reference, body) {
  const validate = ajv.getSchema(reference);
  if (validate(body)) return null;
  return validate.errors
    .map(
      ({ instancePath, message, params, data }) =>
        `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}, and is ${JSON.stringify(data)?.slice(0, 200)}`,
    )
    .join('; ');
}

module.exports = { undocumented };
