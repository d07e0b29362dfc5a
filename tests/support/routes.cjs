/**
 * Makes a pattern for the paths of a route. A contract marks a parameter that takes slashes with a star,
 * the OpenAPI document does not: there, they are `{path}` and `{model}`.
 */
function formOf(route) {
  return new RegExp(`^${route.replace(/\{(path|model|\w+\*)\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Checks whether a path can be decoded. Other paths reach no route. */
function decodes(text) {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** Returns a function that finds the route of a path, or undefined, in the router's order: a word wins over a parameter. */
function routerOf(routes) {
  const forms = [...new Set(routes)].sort().map((route) => [route, formOf(route)]);
  return (at) => (decodes(at) ? forms.find(([, form]) => form.test(at))?.[0] : undefined);
}

module.exports = { routerOf };
