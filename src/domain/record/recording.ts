import { type Finding, InvalidRequest } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import { isObject, type Json, type JsonObject } from '../workspace/json.js';

/** The kinds of personal data and secrets that Tenon finds by itself. */
export const maskKinds = ['email', 'phone', 'card', 'iban', 'ip', 'secret'] as const;
export type MaskKind = (typeof maskKinds)[number];

/** A pattern that a team has written. Its finds become `[<name>]`. */
export interface OwnMask {
  readonly name: string;
  readonly pattern: string;
}

export type Mask = MaskKind | OwnMask;

/** The part of a project's calls that is kept beside their jobs. */
export interface Recording {
  /** The share of the calls, from 0 to 1. */
  readonly share: number;
  readonly content: 'none' | 'full';
  readonly days: number;
  readonly mask: readonly Mask[];
}

/** `pattern` is a length in Unicode code points. */
export const recordingLimits = {
  days: 365,
  masks: 20,
  pattern: 500,
  name: /^[a-z][a-z0-9_-]{0,29}$/,
} as const;

const defaults: Recording = { share: 1, content: 'none', days: 30, mask: [] };
/** A spec of an earlier version may have a field `record` with any value. */
const NOTHING: Recording = { ...defaults, share: 0 };
const fields = ['share', 'content', 'days', 'mask'];

export const Recording = {
  /** Reads the settings from the spec of a project. What is absent has its default. Settings that are not valid keep nothing. */
  of({ record = null }: JsonObject): Recording {
    if (isAbsent(record)) return defaults;
    if (!isObject(record) || recordFindings('', record).length > 0) return NOTHING;
    const given = Object.entries(record).filter(([, value]) => !isAbsent(value));
    return { ...defaults, ...Object.fromEntries(given) };
  },

  /** Throws InvalidRequest if a pattern has a problem. `problemOf` returns the problem, or null. */
  requirePatterns(spec: JsonObject, problemOf: (pattern: string) => string | null): void {
    const findings = Recording.of(spec).mask.flatMap((mask, at) => {
      const message = typeof mask === 'string' ? null : problemOf(mask.pattern);
      return message === null ? [] : [{ path: `spec.record.mask.${at}.pattern`, message }];
    });
    if (findings.length > 0) throw new InvalidRequest(findings);
  },
};

/** Lists the problems of the field `record` of a spec. Does not check whether an engine can run the patterns. */
export function recordFindings(path: string, sent: Json | undefined): Finding[] {
  if (isAbsent(sent)) return [];
  if (!isObject(sent)) return [{ path, message: 'must be an object' }];
  const { share, content, days, mask } = sent;
  const wrong: Record<string, string | false> = {
    share: !(isAbsent(share) || isBetween(share, 0, 1)) && 'must be a number from 0 to 1',
    content: !(isAbsent(content) || content === 'none' || content === 'full') && 'must be none or full',
    days:
      !(isAbsent(days) || (Number.isInteger(days) && isBetween(days, 1, recordingLimits.days))) &&
      `must be a whole number from 1 to ${recordingLimits.days}`,
  };
  const unknown = Object.keys(sent).filter((field) => !fields.includes(field));
  return [
    ...unknown.map((field) => ({ path: `${path}.${field}`, message: `is unknown: there are ${fields.join(', ')}` })),
    ...findingsIn(path, wrong),
    ...maskFindings(`${path}.mask`, mask),
  ];
}

function maskFindings(path: string, sent: Json | undefined): Finding[] {
  if (isAbsent(sent)) return [];
  if (!Array.isArray(sent) || sent.length > recordingLimits.masks)
    return [{ path, message: `must be a list of at most ${recordingLimits.masks} kinds and patterns` }];
  const masks = sent as readonly Json[];
  const names = masks.map((mask) => (isObject(mask) ? mask.name : mask) as Json);
  return masks.flatMap((mask, at) => {
    const isRepeated = names.indexOf(names[at] as Json) < at;
    if (isObject(mask)) return ownFindings(`${path}.${at}`, mask, isRepeated);
    if (isRepeated) return [{ path: `${path}.${at}`, message: 'must be in the list only once' }];
    if (isKind(mask)) return [];
    const message = `must be ${maskKinds.join(', ')}, or an object with name and pattern`;
    return [{ path: `${path}.${at}`, message }];
  });
}

function ownFindings(path: string, { name, pattern, ...others }: JsonObject, isRepeated: boolean): Finding[] {
  const isPattern = typeof pattern === 'string' && pattern !== '' && atMost(pattern, recordingLimits.pattern);
  const unknown = Object.keys(others).map((field) => [field, 'is unknown: there are name, pattern']);
  return findingsIn(path, {
    name: nameProblem(name, isRepeated),
    pattern: !isPattern && `must be a regular expression of 1 to ${recordingLimits.pattern} characters`,
    ...Object.fromEntries(unknown),
  });
}

function nameProblem(name: Json | undefined, isRepeated: boolean): string | false {
  if (typeof name !== 'string' || !recordingLimits.name.test(name))
    return 'must have 1 to 30 small letters, digits, underscores and hyphens, and begin with a letter';
  if (isKind(name)) return 'must not be the name of a built-in kind';
  return isRepeated && 'must differ from the other names';
}

const findingsIn = (path: string, wrong: Record<string, string | false>): Finding[] =>
  Object.entries(wrong).flatMap(([field, message]) =>
    message === false ? [] : [{ path: `${path}.${field}`, message }],
  );

const isKind = (value: Json): value is MaskKind => maskKinds.some((kind) => kind === value);
const isBetween = (value: Json | undefined, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most;
const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;
