const path = require('node:path');

const { contracts } = require(path.join(__dirname, '../../dist/src/interfaces/http/controllers.js'));

// The router's order: a word in a path wins over a parameter.
const forms = [...new Set(contracts.map(({ path: of }) => of))].sort().map((of) => [of, formOf(of)]);

function formOf(of) {
  return new RegExp(`^${of.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** A path that cannot be decoded reaches no route. */
function decodes(text) {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** The contract of the route that takes a request, if one does. */
function contractOf(method, at) {
  if (!decodes(at)) return undefined;
  const routed = forms.find(([, form]) => form.test(at))?.[0];
  return contracts.find((one) => one.path === routed && one.method.toUpperCase() === method);
}

module.exports = { contracts, contractOf };
