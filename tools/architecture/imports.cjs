const { lineAt } = require('./tree.cjs');

/** dependency-cruiser is an ES module. It gives the modules that it read and the rules that they break. */
async function cruiseSrc(root, { options, forbidden }) {
  const { cruise } = await import('dependency-cruiser');
  const { output } = await cruise(['src'], { ...options, baseDir: root, validate: true, ruleSet: { forbidden } });
  return output;
}

/** dependency-cruiser leaves the prefix of Node's own modules out. */
const bare = (specifier) => specifier.replace(/^node:/, '');

/** A cycle is found once from each of its members: one report is enough. */
function oncePerCycle(violations) {
  const seen = new Set();
  return violations.filter(({ rule, cycle }) => {
    if (!cycle) return true;
    const key = [rule.name, ...cycle.map(({ name }) => name).sort()].join(' ');
    return !seen.has(key) && seen.add(key);
  });
}

function importRules(src, output, forbidden) {
  const advice = new Map(forbidden.map(({ name, comment }) => [name, comment]));
  const modules = new Map(output.modules.map((module) => [module.source, module]));
  const files = new Map(src.map((file) => [file.path, file]));
  return oncePerCycle(output.summary.violations).map(({ rule, from, to, cycle }) => {
    const specifier = modules.get(from)?.dependencies.find(({ resolved }) => resolved === to)?.module;
    const file = files.get(from);
    const found = file?.imports.find((one) => bare(one.specifier) === specifier);
    const what = cycle ? [from, ...cycle.map(({ name }) => name)].join(' → ') : `imports ${specifier ?? to}`;
    const line = found && lineAt(file.text, found.index);
    return { rule: rule.name, file: from, line, advice: `${what}: ${advice.get(rule.name)}` };
  });
}

/**
 * The rules above hold only for what dependency-cruiser has seen, and what it can't parse it passes over in silence.
 * So it must have read every file, and found in it every import that plain text matching finds.
 */
function blindSpots(src, output) {
  if (src.length === 0) return [{ rule: 'src-is-seen', file: 'src', advice: 'there is no source file: wrong folder?' }];
  const modules = new Map(output.modules.map((module) => [module.source, module]));
  return src.flatMap(({ path: file, text, imports }) => {
    const module = modules.get(file);
    if (!module)
      return [
        {
          rule: 'src-is-seen',
          file,
          advice: 'dependency-cruiser did not read it: is swc installed, is this a .ts file?',
        },
      ];
    const known = new Set(module.dependencies.map((dependency) => bare(dependency.module)));
    return imports
      .filter(({ specifier }) => !known.has(bare(specifier)))
      .map(({ specifier, index }) => ({
        rule: 'imports-are-seen',
        file,
        line: lineAt(text, index),
        advice: `dependency-cruiser overlooks ${specifier}: import it with a statement at the top of the file`,
      }));
  });
}

module.exports = { cruiseSrc, importRules, blindSpots };
