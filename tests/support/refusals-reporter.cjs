const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const http = path.join(__dirname, '../../dist/src/interfaces/http');

/**
 * Fails a whole run in which a success status or a refusal that a route declares was never seen over HTTP, or in which
 * a route refused with a code that it does not declare.
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
    const { contracts } = require(path.join(http, 'contracts.js'));
    const { refusalsOf, everywhere } = require(path.join(http, 'openapi-refusals.js'));
    const answers = readFileSync(this.file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    // The router's order: a word in a path wins over a parameter.
    const forms = [...new Set(contracts.map(({ path: of }) => of))].sort().map((of) => [of, formOf(of)]);
    const routed = (at) => forms.find(([, form]) => form.test(at))?.[0];
    return contracts.flatMap((contract) => {
      const reaches = ({ method, path: at }) =>
        method === contract.method.toUpperCase() && routed(at) === contract.path && decodes(at);
      const own = answers.filter(reaches);
      const name = `${contract.method.toUpperCase()} ${contract.path}`;
      const declared = refusalsOf(contract);
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

const formOf = (path) => new RegExp(`^${path.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);

/** A path that cannot be decoded reaches no route. */
function decodes(text) {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

module.exports = RefusalsReporter;
