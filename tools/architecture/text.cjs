const { lineAt } = require('./tree.cjs');

const CLOCK_OWNERS = /^src\/infrastructure\/(system|chat-engine\/worker)\//;

/** Words of the code that only some places may say. The worker is a process of its own: no container reaches it. */
const RESERVED = [
  {
    rule: 'clock-confined',
    words: /\bDate\s*\(\s*\)|\bnew\s+Date\b(?!\s*[(.])|\b(Date|performance)\s*(\?\.|\.|\[)\s*(now\b|['"`])|\bhrtime\b/g,
    allowed: CLOCK_OWNERS,
    advice: 'ask the Clock port for the time',
  },
  {
    rule: 'chance-confined',
    words: /\bMath\s*(\?\.|\.|\[)\s*(random\b|['"`])|\brandomUUID\b/g,
    allowed: CLOCK_OWNERS,
    advice: 'ask the Identifiers or Tokens port',
  },
  {
    rule: 'env-confined',
    words:
      /\bprocess\s*(\?\.|\.|\[)\s*(env\b|['"`])|\benv\b[^={};]*\}\s*=\s*(globalThis\s*\.\s*)?process\b|\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\b/g,
    allowed:
      /^src\/(bootstrap\/config(\/|\.ts$)|infrastructure\/(process|onnx|chat-engine|model-server|child-process|embedded-postgres)\/)/,
    advice: 'read settings in src/bootstrap/config and pass them in',
  },
  {
    rule: 'console-confined',
    words: /\bconsole\s*(\?\.|\.|\[)/g,
    allowed: /^src\/(main\.ts$|infrastructure\/logging\/)/,
    advice: 'use the Log port',
  },
];

function reservedWords({ src }) {
  return src.flatMap(({ path: file, code }) =>
    RESERVED.filter(({ allowed }) => !allowed.test(file)).flatMap(({ rule, words, advice }) =>
      [...code.matchAll(words)].map(({ 0: found, index }) => {
        const said = found.replace(/\s+/g, ' ');
        return { rule, file, line: lineAt(code, index), advice: `${said} does not belong here: ${advice}` };
      }),
    ),
  );
}

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
const VAGUE = /(^|-)(utils?|helpers?|managers?)(\.|$)/;
const LAYERS = /^src\/((domain|application|infrastructure|interfaces|bootstrap)\/|(main|cli)\.ts$)/;

const NAMES = [
  { rule: 'known-layer', broken: (file) => !LAYERS.test(file), advice: 'put it into one of the five layers' },
  {
    rule: 'no-index',
    broken: (file) => /\/index\.[cm]?[jt]s$/.test(file),
    advice: 'import from the file itself, and name this one after what it exports',
  },
  {
    rule: 'no-vague-names',
    broken: (file) => file.split('/').some((part) => VAGUE.test(part)),
    advice: 'name it after what it does; utils, helpers and managers collect what has no place',
  },
  {
    rule: 'kebab-case',
    broken: (file) => !file.split('/').every((part) => KEBAB.test(part)),
    advice: 'write file and folder names in small letters with hyphens',
  },
];

const names = ({ paths }) =>
  NAMES.flatMap(({ rule, broken, advice }) => paths.filter(broken).map((file) => ({ rule, file, advice })));

const LONGEST = { src: 250, tests: 400 };

/** Written by a program (`npm run openapi`). */
const GENERATED = 'tests/support/openapi-types.d.ts';

const lengths = (tree) =>
  Object.entries(LONGEST).flatMap(([folder, most]) =>
    tree[folder]
      .filter(({ path: file }) => file !== GENERATED)
      .map(({ path: file, text }) => ({ file, lines: text.replace(/\n$/, '').split('\n').length }))
      .filter(({ lines }) => lines > most)
      .map(({ file, lines }) => ({
        rule: 'short-files',
        file,
        advice: `${lines} lines, at most ${most}: split it by what changes together`,
      })),
  );

module.exports = { textRules: (tree) => [...reservedWords(tree), ...names(tree), ...lengths(tree)] };
