const path = require('node:path');

const { contracts } = require(path.join(__dirname, '../../dist/src/interfaces/http/controllers.js'));

// The router's order: a word in a path wins over a parameter.
const forms = [...new Set(contracts.map((contract) => contract.path))].sort().map((route) => [route, formOf(route)]);

function formOf(route) {
  return new RegExp(`^${route.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Checks whether a path can be decoded. Other paths reach no route. */
function decodes(text) {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** Returns the contract of the route for a request, or undefined. */
function contractOf(method, at) {
  if (!decodes(at)) return undefined;
  const routed = forms.find(([, form]) => form.test(at))?.[0];
  return contracts.find((one) => one.path === routed && one.method.toUpperCase() === method);
}

module.exports = { contracts, contractOf };
