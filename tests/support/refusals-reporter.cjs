const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const http = path.join(__dirname, '../../dist/src/interfaces/http');

/**
 * Fails a whole run of the tests if a declared success status or refusal of a route was never seen over HTTP, or if a
 * route refused with an undeclared code.
 */
class RefusalsReporter {
  constructor(globalConfig) {
    this.whole = globalConfig.nonFlagArgs.length === 0 && !globalConfig.testNamePattern && !globalConfig.onlyChanged;
    this.folder = mkdtempSync(path.join(tmpdir(), 'tenon-answers-'));
    this.file = path.join(this.folder, 'answers.jsonl');
    process.env.TENON_TEST_ANSWERS = this.file;
  }

  onRunComplete() {
    const problems = this.whole ? this.problems() : [];
    rmSync(this.folder, { recursive: true, force: true });
    if (problems.length === 0) return;
    this.error = new Error(`The contracts and what was seen over HTTP differ:\n  ${problems.join('\n  ')}`);
    console.error(this.error.message);
  }

  getLastError() {
    return this.error;
  }

  problems() {
    const { routerOf } = require('./routes.cjs');
    const { contracts } = require(path.join(http, 'controllers.js'));
    const { refusalsOf, everywhere } = require(path.join(http, 'openapi/responses.js'));
    const routeOf = routerOf(contracts.map((contract) => contract.path));
    const answers = readFileSync(this.file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((answer) => ({ ...answer, name: `${answer.method} ${routeOf(answer.path)}` }));
    return contracts.flatMap((contract) => {
      const name = `${contract.method.toUpperCase()} ${contract.path}`;
      const own = answers.filter((answer) => answer.name === name);
      const declared = refusalsOf(contract).map(({ code }) => code);
      const seen = new Set(own.map(({ code }) => code));
      const statuses = [contract.status, contract.otherStatus?.status].filter(Boolean);
      return [
        ...declared.filter((code) => !seen.has(code)).map((code) => `${name}: ${code} was never seen`),
        ...statuses
          .filter((status) => !own.some((answer) => answer.status === status))
          .map((status) => `${name}: ${status} was never seen`),
        ...[...seen]
          .filter((code) => code !== 'success' && !declared.includes(code) && !everywhere.includes(code))
          .map((code) => `${name}: ${code} is not declared`),
      ];
    });
  }
}

module.exports = RefusalsReporter;
