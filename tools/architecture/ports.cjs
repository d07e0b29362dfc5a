const { lineAt } = require('./tree.cjs');

const PORT_FILE = /^src\/application\/(.+)\/ports\/(.+)\.ts$/;
const PORT = /\bconst\s+([\w$]+)[^=;]*=\s*port\s*(?:<\s*([\w$]+)|\()/g;
const CLASS = /\bclass\s+([\w$]+)[^{;]*?\bimplements\s+([^{;]+)\{/g;

/** Every port declared in the file: its interface, and where its contract suite has to be. */
function portsIn({ path: file, code }) {
  const [, feature, name] = file.match(PORT_FILE) ?? [];
  return [...code.matchAll(PORT)].map(({ 1: token, 2: shape, index }) => ({
    file,
    line: lineAt(code, index),
    name: shape ?? token,
    suite: feature ? `tests/contracts/${feature}/${name}.contract.ts` : null,
  }));
}

const importsAtRunTime = (file, target) => file.imports.some((one) => one.target === target && !one.typeOnly);

const isTest = ({ path: file }) => file.endsWith('.test.ts');

function portRules(ports, tests) {
  return ports.flatMap(({ file, line, name, suite }) => {
    if (!suite) return [{ rule: 'port-in-its-folder', file, line, advice: `move ${name} into <feature>/ports/` }];
    if (!tests.some((test) => test.path === suite)) {
      return [{ rule: 'port-has-contract', file, line, advice: `write the contract suite of ${name}: ${suite}` }];
    }
    const run = tests.some(
      (test) => isTest(test) && test.path.startsWith('tests/contracts/') && importsAtRunTime(test, suite),
    );
    return run
      ? []
      : [{ rule: 'contract-is-run', file: suite, advice: 'import and run it in a test of tests/contracts' }];
  });
}

/** What the file calls the things that it imports from port files: local name → imported name and port file. */
function importedShapes(imports) {
  const names = new Map();
  for (const { bindings, namespace, target } of imports) {
    if (!target) continue;
    for (const binding of bindings.split(',')) {
      const [name, local = name] = binding
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/);
      if (name) names.set(local, { name, target });
    }
    if (namespace) names.set(namespace, { name: null, target });
  }
  return names;
}

/** Every class that says it implements a port, with that port. */
function adaptersIn({ path: file, code, imports }, ports) {
  const shapes = importedShapes(imports);
  return [...code.matchAll(CLASS)].flatMap(({ 1: adapter, 2: list, index }) =>
    withoutTypeArguments(list)
      .split(',')
      .flatMap((item) => {
        const [local, member] = item.trim().split('.');
        const shape = shapes.get(local);
        const port = ports.find(({ file: from, name }) => from === shape?.target && name === (shape.name ?? member));
        return port ? [{ adapter, port, file, line: lineAt(code, index) }] : [];
      }),
  );
}

function withoutTypeArguments(list) {
  const shorter = list.replace(/<[^<>]*>/g, '');
  return shorter === list ? list : withoutTypeArguments(shorter);
}

/**
 * The files in which an adapter can be put under a suite: those that import the suite and take part in a test run
 * (a test, or what a test imports), and what those import from tests in turn, such as a folder of ready-made adapters.
 * Suites don't count: they may not name an adapter.
 */
function placesOf(suite, tests) {
  const imported = (file) => tests.filter((other) => importsAtRunTime(file, other.path));
  const running = new Set(tests.filter(isTest).flatMap((test) => [test, ...imported(test)]));
  const users = [...running].filter((file) => importsAtRunTime(file, suite));
  return [...new Set(users.flatMap((user) => [user, ...imported(user)]))].filter(
    ({ path: file }) => !file.endsWith('.contract.ts'),
  );
}

/**
 * An adapter is proven where its class is named in the code of such a place. This is text matching: where one file
 * runs several suites it can't tell which of them the adapter was given to. What it does catch is the common slip,
 * a new adapter that no suite has heard of.
 */
function adapterRules(adapters, tests) {
  return adapters
    .filter(({ port }) => tests.some(({ path: file }) => file === port.suite))
    .filter(({ adapter, port }) => {
      const named = new RegExp(`(?<![\\w$])${adapter.replaceAll('$', '\\$')}(?![\\w$])`);
      return !placesOf(port.suite, tests).some(({ code }) => named.test(code));
    })
    .map(({ adapter, port, file, line }) => ({
      rule: 'adapter-under-contract',
      file,
      line,
      advice: `no test runs the suite of ${port.name} on ${adapter}: name it where ${port.suite} is run`,
    }));
}

function contractRules({ src, tests }) {
  const ports = src.filter(({ path: file }) => file.startsWith('src/application/')).flatMap(portsIn);
  const adapters = src
    .filter(({ path: file }) => file.startsWith('src/infrastructure/'))
    .flatMap((file) => adaptersIn(file, ports));
  return [...portRules(ports, tests), ...adapterRules(adapters, tests)];
}

module.exports = { contractRules };
