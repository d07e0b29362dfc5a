import { type Find, type Finder, matches, matchesOf } from './find.js';

/** The forms of keys that name their issuer. No form may scan the same characters again and again. */
const TOKENS: readonly string[] = [
  'sk-[\\w-]{20,}', // OpenAI, Anthropic and others
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])', // AWS
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_\\w{22,}',
  'gl[a-z]{2,6}-[\\w-]{20,}', // GitLab
  'xox[a-z]-[A-Za-z0-9-]{10,}', // Slack
  'xapp-\\d-[A-Za-z0-9-]{10,}',
  'hooks\\.slack\\.com/(?:services|workflows)/[\\w/]{20,}',
  'discord(?:app)?\\.com/api/webhooks/\\d{10,20}/[\\w-]{20,}',
  '\\d{8,10}:AA[\\w-]{33}', // Telegram
  'AIza[\\w-]{35}', // Google
  'ya29\\.[\\w.-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}', // Stripe
  'whsec_[A-Za-z0-9+/]{20,}={0,2}', // Stripe, Standard Webhooks
  'tn[a-z]_[A-Za-z0-9]{49}', // Tenon
  'npm_[A-Za-z0-9]{36}',
  'hf_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{40,}',
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16,64}', // SendGrid
  'do[opr]_v1_[a-f0-9]{64}', // DigitalOcean
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}', // Shopify
  '(?:dckr_pat|dckr_oat|gsk|lin_api|figd|glsa|ntn|rubygems|sntrys|pscale_(?:tkn|pw|oauth)|dapi)_?[\\w-]{26,}',
  '(?:xai|pplx|tvly|PMAK|sq0(?:atp|csp))-[\\w-]{20,}',
  '(?:ATATT3|AGE-SECRET-KEY-1|hvs\\.)[\\w=-]{20,}', // Atlassian, age, Vault
  'r8_[A-Za-z0-9]{37}', // Replicate
];
/** One search for all forms is faster than one for each. */
const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.join('|')})`, 'g');
/** A JSON Web Token. */
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}/g;

/** The words before the value of a secret, as in `password=…`. */
const NAMES =
  '(?<![a-z])pass|pass(?:word|wd|phrase|code|wort)|kennwort|pwd|secret|token|credentials?|authorization|' +
  '(?:api|access|private|secret|signing|encryption|account|auth|client|service)[ _-]?(?:key|secret|token)';
const NAMED_VALUE = new RegExp(
  `(?:${NAMES})["'\`]?( {0,4}(?:[:=]|=>|:=) {0,4}| is:? )(?:"([^"\\n]{1,2000})(?=")|'([^'\\n]{1,2000})(?=')|([^\\s"',;<>]{4,2000}))`,
  'gi',
);
/** A line with nothing but a name and one word. The words of types and the like are no secrets. */
const NAMED_LINE =
  /^[ \t>*-]{0,20}[\w.-]{0,50}(?:password|passwd|passwort|kennwort|pwd|passphrase) {0,4}[:=] {0,4}(?!(?:string|str|text|varchar|number|int|integer|bool|boolean|any|null|none|nil|undefined|true|false|required|optional|yes|no|unknown|never)\b)([^\s"',;<>(){}[\]$.:]{4,200})[ \t]{0,20}$/gim;
const NAMED_ELEMENT = new RegExp(`<[\\w:.-]{0,50}(?:${NAMES})>([^<\\n]{1,2000})(?=</)`, 'gi');

/** Forms in which the last group is the secret, if it looks like one. It ends where the match ends. */
const UNLIKE_PROSE: readonly RegExp[] = [
  /\b(?:bearer|basic)\s{1,3}([\w.~+/-]{8,4000}={0,2})/gi,
  /\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?[a-z][\w-]{0,20} {1,3}([\w.~+/-]{8,4000}={0,2})/gi,
  /(?<![\w-])--(?:[a-z]{1,20}-){0,3}(?:password|passwd|pass|token|secret|key)[ =]["']?([^\s"']{4,2000})/gi,
];
/** Forms in which the last group is always a secret. */
const CERTAIN: readonly RegExp[] = [
  /:\/\/[^\s:@/]{0,100}:([^\s/]{1,200})(?=@)/g, // a password in an address
  /(?<![\w-])(?:-u|--user)[ =]["']?[^\s:"']{1,100}:(?!\d{1,9}(?!\S))([^\s"']{1,200})/g, // a password for curl
  /\bcookie: {0,3}(?=[^\s=;]{1,100}=[^\s;]{8})([^\n"']{8,4000})/gi,
  NAMED_LINE,
  NAMED_ELEMENT,
];

const SECRET_NAME = new RegExp(`(?:^|[^a-z])(?:${NAMES})$`);
const MAYBE_SECRET_NAME = /pass|pwd|kennwort|secret|token|key|credential|authorization/i;

/** Tells whether a short text may have a secret: one with a name, or one of the issuers' forms, which are longer. */
const MAYBE_SECRET = /pass|pwd|kennwort|secret|token|key|credential|authorization|:\/\/|-u|bearer|basic|cookie/i;
const SHORTEST_TOKEN = 16;

export const secrets: Finder = function* (text) {
  if (text.length < SHORTEST_TOKEN && !MAYBE_SECRET.test(text)) return;
  yield* privateKeys(text);
  yield* matches(text, TOKEN);
  yield* matches(text, JWT);
  for (const pattern of CERTAIN) yield* matches(text, pattern, 1);
  for (const pattern of UNLIKE_PROSE)
    for (const { found, ...find } of matches(text, pattern, 1))
      if (found.length > 30 || isUnlikeProse(found)) yield find;
  yield* namedValues(text);
};

/** Finds the values that follow the name of a secret. A value that may be an ordinary word must be in quotes. */
function* namedValues(text: string): Generator<Find> {
  for (const match of matchesOf(text, NAMED_VALUE)) {
    const [all, sign = '', double, single, plain] = match;
    const value = double ?? single ?? plain ?? '';
    const to = match.index + all.length;
    const isTight = sign === '=' && !/[([{$]/.test(value);
    if (plain === undefined ? !sign.startsWith(' is') : isTight || isUnlikeProse(value))
      yield { from: to - value.length, to };
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
