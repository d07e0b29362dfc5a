const { statSync } = require('node:fs');
const Sequencer = require('@jest/test-sequencer').default;

const LONG =
  /\/tests\/(e2e|embedded-postgres|infrastructure|architecture|contracts\/(stores|chat|deployments|shared\/work)|http\/(fuzz|model-files))/;

/** Runs `database-faults` first, which mostly waits, then the other long tests. Short tests fill the end of a run. */
module.exports = class extends Sequencer {
  sort(tests) {
    const size = new Map(tests.map((test) => [test, statSync(test.path).size]));
    const long = ({ path }) => 2 * Number(path.endsWith('/database-faults.test.ts')) + Number(LONG.test(path));
    return [...tests].sort((a, b) => long(b) - long(a) || size.get(b) - size.get(a));
  }
};
