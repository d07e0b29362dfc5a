/**
 * Checks the layout of the code: imports, who may read the clock or the environment, names, lengths.
 *
 *   node tools/check-architecture.cjs [root]     root: the tree to check, by default this repository
 *
 * Prints a line per violation (rule, place, what to do) and a summary; exits with 1 where there is a violation.
 */
const fs = require('node:fs');
const path = require('node:path');
const layers = require('../.dependency-cruiser.cjs');
const { readTree } = require('./architecture/tree.cjs');
const { cruiseSrc, importRules, blindSpots } = require('./architecture/imports.cjs');
const { textRules } = require('./architecture/text.cjs');

/** What is wrong in the tree at `root`; `cruiser` is a dependency-cruiser configuration. */
async function check(root, cruiser = layers) {
  const tree = readTree(fs.realpathSync(root));
  const nothing = { modules: [], summary: { violations: [] } };
  const output = tree.src.length ? await cruiseSrc(tree.root, cruiser) : nothing;
  const violations = [
    ...blindSpots(tree.src, output),
    ...importRules(tree.src, output, cruiser.forbidden),
    ...textRules(tree),
  ];
  return { modules: output.modules.filter(({ source }) => source.startsWith('src/')).length, violations };
}

/** The check as the command line shows it. */
async function run(root, cruiser) {
  const { modules, violations } = await check(root, cruiser);
  const lines = violations.map(
    ({ rule, file, line, advice }) => `${rule}  ${file}${line ? `:${line}` : ''}  ${advice}`,
  );
  lines.push(`layers: ${modules} modules, ${violations.length} violations`);
  return { lines, exitCode: violations.length === 0 ? 0 : 1 };
}

async function main(root) {
  const { lines, exitCode } = await run(root);
  console.log(lines.join('\n'));
  process.exitCode = exitCode;
}

if (require.main === module) {
  main(process.argv[2] ?? path.join(__dirname, '..')).catch((error) => {
    console.error(`layers: the check itself failed: ${error.message}`);
    process.exitCode = 1;
  });
}

module.exports = { run };
