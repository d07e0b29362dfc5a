import { type Find, type Finder, matches, matchesOf } from './find.js';

interface TokenForm {
  /** Texts without any of these are not searched. This keeps the kind fast. */
  readonly hints: readonly string[];
  /** The first group, or else the whole match, is the secret. A group ends where the match ends. */
  readonly pattern: RegExp;
}

const APART = '(?<![A-Za-z0-9])';
const token = (form: string, ...hints: string[]): TokenForm => ({ hints, pattern: new RegExp(APART + form, 'g') });

/** The forms of keys that name their issuer. No form may scan the same characters again and again. */
const TOKENS: readonly TokenForm[] = [
  token('sk-[\\w-]{20,}', 'sk-'), // OpenAI, Anthropic and others
  token('(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])', 'AKIA', 'ASIA', 'ABIA', 'ACCA'), // AWS
  token('gh[pousr]_[A-Za-z0-9]{36,}', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'),
  token('github_pat_\\w{22,}', 'github_pat_'),
  token('gl[a-z]{2,6}-[\\w-]{20,}', 'glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glagent-', 'glsoat-'), // GitLab
  token('xox[a-z]-[A-Za-z0-9-]{10,}', 'xox'), // Slack
  token('xapp-\\d-[A-Za-z0-9-]{10,}', 'xapp-'),
  token('hooks\\.slack\\.com/(?:services|workflows)/[\\w/]{20,}', 'hooks.slack.com'),
  token('AIza[\\w-]{35}', 'AIza'), // Google
  token('ya29\\.[\\w.-]{20,}', 'ya29.'),
  token('GOCSPX-[\\w-]{20,}', 'GOCSPX-'),
  token('[sr]k_(?:live|test)_[A-Za-z0-9]{16,}', 'k_live_', 'k_test_'), // Stripe
  token('whsec_[A-Za-z0-9+/]{20,}={0,2}', 'whsec_'), // Stripe, Standard Webhooks
  token('tn[a-z]_[A-Za-z0-9]{49}', 'tns_', 'tnk_', 'tnv_', 'tnr_', 'tni_'), // Tenon
  token('npm_[A-Za-z0-9]{36}', 'npm_'),
  token('hf_[A-Za-z0-9]{30,}', 'hf_'),
  token('pypi-[\\w-]{40,}', 'pypi-'),
  token('SG\\.[\\w-]{16,32}\\.[\\w-]{16,64}', 'SG.'), // SendGrid
  { hints: ['eyJ'], pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}/g }, // JSON Web Token
  { hints: ['://'], pattern: /:\/\/[^\s:@/]{0,100}:([^\s@/]{1,200})(?=@)/g }, // a password in an address
];

/** The words before the value of a secret, as in `password=…`. */
const NAMES =
  '(?<![a-z])pass|pass(?:word|wd|phrase|code|wort)|kennwort|pwd|secret|token|credentials?|authorization|' +
  '(?:api|access|private|secret|signing|encryption|account|auth|client|service)[ _-]?(?:key|secret|token)';
const NAMED_VALUE = new RegExp(
  `(?:${NAMES})["'\`]?( {0,4}(?:[:=]|=>|:=) {0,4}| is )(?:"([^"\\n]{1,2000})(?=")|'([^'\\n]{1,2000})(?=')|([^\\s"',;<>]{4,2000}))`,
  'gi',
);
/** The credential in a header, as in `Bearer …`. */
const SCHEME = /\b(?:bearer|basic)\s{1,3}([\w.~+/-]{8,4000}={0,2})/gi;
const MAYBE_SECRET_NAME = /pass|pwd|kennwort|secret|token|key|credential|authorization/i;
const SECRET_NAME = new RegExp(`(?:^|[^a-z])(?:${NAMES})$`);

export const secrets: Finder = function* (text) {
  yield* privateKeys(text);
  for (const { hints, pattern } of TOKENS)
    if (hints.some((hint) => text.includes(hint)))
      yield* pattern.source.includes('(?=@)') ? matches(text, pattern, 1) : matches(text, pattern);
  for (const { found, ...find } of matches(text, SCHEME, 1)) if (found.length > 30 || isUnlikeProse(found)) yield find;
  yield* namedValues(text);
};

/** Finds the values that follow the name of a secret. A value that may be an ordinary word must be in quotes. */
function* namedValues(text: string): Generator<Find> {
  for (const match of matchesOf(text, NAMED_VALUE)) {
    const [all, sign = '', double, single, plain] = match;
    const value = double ?? single ?? plain ?? '';
    const to = match.index + all.length;
    const isTight = sign === '=' && !/[([{$]/.test(value);
    if (plain === undefined ? sign !== ' is ' : isTight || isUnlikeProse(value)) yield { from: to - value.length, to };
  }
}

/** Tells whether a value under this name, such as `client_secret`, is a secret. */
export const namesSecret = (name: string): boolean =>
  MAYBE_SECRET_NAME.test(name) &&
  SECRET_NAME.test(
    name
      .slice(-100)
      .replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .toLowerCase(),
  );

/** Tells whether a value is no word, and no name or call in a program. */
const isUnlikeProse = (value: string): boolean =>
  /\d|[A-Za-z][^A-Za-z.()[\]{}_:/-]+[A-Za-z]/.test(value) && !/^[\w.]*\(|^[$<{[]|^\d{1,5}[.)]?$/.test(value);

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Finds blocks of keys. A block without an end takes the rest of the text. */
function* privateKeys(text: string): Generator<Find> {
  KEY_BEGIN.lastIndex = 0;
  for (let begin = KEY_BEGIN.exec(text); begin; begin = KEY_BEGIN.exec(text)) {
    KEY_END.lastIndex = KEY_BEGIN.lastIndex;
    const end = KEY_END.exec(text);
    yield { from: begin.index, to: end ? KEY_END.lastIndex : text.length };
    if (!end) return;
    KEY_BEGIN.lastIndex = KEY_END.lastIndex;
  }
}
