const fs = require('node:fs');
const path = require('node:path');

const SCRIPT = /\.[cm]?[jt]s$/;

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
/** A slash opens a regular expression only where a value may stand. */
const EXPRESSION = /(?<=(?:^|[(,=:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//;
/** What may hide text that looks like code, and what opens and closes a template. */
const TOKEN = new RegExp([COMMENT, STRING, EXPRESSION, /[`{}]/].map(({ source }) => source).join('|'), 'gm');
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{)/y;

const spaces = (text) => text.replace(/[^\n]/g, ' ');

/**
 * The text with comments, strings and regular expressions overwritten by spaces: same length, same lines.
 * Quotes stay, and so does the code inside a template's `${}`.
 */
function codeOf(text) {
  const opened = [];
  let code = '';
  let at = 0;
  const keep = (end) => {
    code += text.slice(at, end);
    at = end;
  };
  const hide = (end) => {
    code += spaces(text.slice(at, end));
    at = end;
  };
  const template = () => {
    TEMPLATE_PART.lastIndex = at;
    const part = TEMPLATE_PART.exec(text);
    if (!part) return hide(text.length);
    hide(TEMPLATE_PART.lastIndex - part[1].length);
    keep(TEMPLATE_PART.lastIndex);
    if (part[1] !== '`') opened.push('template');
  };
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text);
    keep(token ? token.index : text.length);
    if (!token) break;
    const [found] = token;
    const end = at + found.length;
    if (found.startsWith('/')) {
      hide(end);
      continue;
    }
    keep(at + 1);
    if (found === '{') opened.push('brace');
    if (found === '`' || (found === '}' && opened.pop() === 'template')) template();
    if (found.length > 1) {
      hide(end - 1);
      keep(end);
    }
  }
  return code;
}

const IMPORT = /\b(?:(?:import|export)\s+(type\s)?[^'"`;]*?\bfrom|import|(?:import|require)\s*\()\s*(['"`])( *)\2/g;

/** Everything that the file imports by a literal name, in any of the ways there are. */
function importsOf({ path: file, text, code }) {
  return [...code.matchAll(IMPORT)].map((match) => {
    const end = match.index + match[0].length - 1;
    const specifier = text.slice(end - match[3].length, end);
    const relative = /^\.\.?(\/|$)/.test(specifier);
    const target = relative && path.posix.join(path.posix.dirname(file), specifier.replace(/(\.[cm]?)js$/, '$1ts'));
    const bindings = match[0].match(/\{([^}]*)\}/)?.[1] ?? '';
    const namespace = match[0].match(/\*\s+as\s+([\w$]+)/)?.[1];
    return { specifier, target: target || null, typeOnly: Boolean(match[1]), bindings, namespace, index: end };
  });
}

function sourceFile(root, file) {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const source = { path: file, text, code: codeOf(text) };
  return { ...source, imports: importsOf(source) };
}

function pathsBelow(root, folder) {
  const start = path.join(root, folder);
  if (!fs.existsSync(start)) return [];
  return fs
    .readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort();
}

/** All that the rules look at. Paths are relative to the root, with slashes. */
function readTree(root) {
  const read = (paths) => paths.filter((file) => SCRIPT.test(file)).map((file) => sourceFile(root, file));
  const paths = pathsBelow(root, 'src');
  return { root, paths, src: read(paths), tests: read(pathsBelow(root, 'tests')) };
}

const lineAt = (text, index) => text.slice(0, index).split('\n').length;

module.exports = { readTree, codeOf, lineAt };
