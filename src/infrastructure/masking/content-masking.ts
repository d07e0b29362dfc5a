import { MaskingFailed } from '../../domain/record/errors.js';
import type { Mask, MaskKind, OwnMask } from '../../domain/record/recording.js';
import { isObject, type Json, type JsonObject } from '../../domain/workspace/json.js';
import type { Find } from './find.js';
import { folded } from './folded-text.js';
import { jsonParts } from './json-text.js';
import { finders } from './kinds.js';
import { OwnPatterns } from './own-patterns.js';
import { namesSecret } from './secrets.js';

interface LabelledFind extends Find {
  readonly label: string;
}

/** A text to mask, and the key under which it stands. */
interface Part {
  readonly text: string;
  readonly key: string | null;
}

/** Tool arguments are JSON in a string of JSON. Deeper levels are masked as text, with their escapes. */
const MOST_LEVELS = 4;

/** Finds the built-in kinds with patterns that take linear time, and own patterns with RE2. */
export class ContentMasking {
  private readonly own = new OwnPatterns();

  /** Returns a value of which all strings, numbers and keys are masked. Throws MaskingFailed. */
  mask(value: Json, masks: readonly Mask[]): Json {
    try {
      const parts: Part[] = [];
      collect(value, null, parts);
      return rebuilt(value, this.maskAll(parts, masks).values());
    } catch (error) {
      if (error instanceof MaskingFailed) throw error;
      throw new MaskingFailed('the masker has failed'); // a message of the cause may repeat the content
    }
  }

  /** Masks all texts together, because the own patterns have one limit of time. */
  private maskAll(parts: readonly Part[], masks: readonly Mask[]): string[] {
    const kinds = masks.filter(isKind);
    const own = masks.filter((mask): mask is OwnMask => !isKind(mask));
    return masked(parts, (leaves) => this.finds(leaves, kinds, own));
  }

  /** Returns the finds in each text. Searches the text as it is written, and as it is read. */
  private finds(parts: readonly Part[], kinds: readonly MaskKind[], own: readonly OwnMask[]): LabelledFind[][] {
    const plain = parts.map(({ text }) => text);
    const views = plain.map((text) => folded(text));
    const ownPlain = this.own.finds([...plain, ...views.map((view) => view?.text ?? '')], own);
    return parts.map(({ text, key }, at) => {
      if (key !== null && text !== '' && kinds.includes('secret') && namesSecret(key))
        return [{ label: 'secret', from: 0, to: text.length }];
      const view = views[at];
      const finds = [...kindFinds(text, kinds), ...(ownPlain[at] ?? [])];
      if (!view) return finds;
      const read = [...kindFinds(view.text, kinds), ...(ownPlain[parts.length + at] ?? [])];
      const placed = read.map(({ label, from, to }) => ({ label, from: view.original(from), to: view.original(to) }));
      return [...finds, ...placed];
    });
  }
}

export const isKind = (mask: Mask): mask is MaskKind => typeof mask === 'string';

const kindFinds = (text: string, kinds: readonly MaskKind[]): LabelledFind[] =>
  kinds.flatMap((label) => [...finders[label](text)].map(({ from, to }) => ({ label, from, to })));

/** Masks texts. The parts of a text that is JSON are masked by themselves, so that the text stays JSON. */
function masked(parts: readonly Part[], find: (leaves: readonly Part[]) => LabelledFind[][]): string[] {
  const leaves: Part[] = [];
  const builders = parts.map((part) => builderOf(part, 0, leaves));
  const finds = find(leaves);
  const results = leaves.map(({ text }, at) => replaced(text, finds[at] ?? []));
  return builders.map((build) => build(results));
}

type Builder = (results: readonly string[]) => string;

function builderOf(part: Part, level: number, leaves: Part[]): Builder {
  const inner = level < MOST_LEVELS ? jsonParts(part.text) : null;
  if (!inner) {
    const at = leaves.push(part) - 1;
    return (results) => results[at] as string;
  }
  const { text } = part;
  const builders = inner.map(({ text: leaf, key }) =>
    builderOf({ text: leaf, key: key ?? part.key }, level + 1, leaves),
  );
  return (results) => {
    let end = 0;
    const pieces = inner.flatMap(({ from, to, text: before }, at) => {
      const after = (builders[at] as Builder)(results);
      const written = after === before ? text.slice(from, to) : JSON.stringify(after);
      const piece = [text.slice(end, from), written];
      end = to;
      return piece;
    });
    return pieces.join('') + text.slice(end);
  };
}

/** Replaces each find with its label. Finds that overlap become one. */
function replaced(text: string, finds: readonly LabelledFind[]): string {
  if (finds.length === 0) return text;
  const sorted = finds.toSorted((one, other) => one.from - other.from || other.to - one.to);
  const pieces: string[] = [];
  let end = 0;
  for (const { label, from, to } of sorted) {
    if (from >= end) pieces.push(text.slice(end, from), `[${label}]`);
    end = Math.max(end, to);
  }
  return pieces.join('') + text.slice(end);
}

/** Lists the texts of a value: keys before their values. */
function collect(value: Json, key: string | null, parts: Part[]): void {
  if (typeof value === 'string' || typeof value === 'number') parts.push({ text: String(value), key });
  else if (Array.isArray(value)) for (const item of value) collect(item, key, parts);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) {
      parts.push({ text: name, key: null });
      collect(member, name, parts);
    }
}

/** Builds the value from the masked texts, in the order of `collect`. */
function rebuilt(value: Json, results: Iterator<string>): Json {
  const next = () => results.next().value as string;
  if (typeof value === 'string') return next();
  if (typeof value === 'number') {
    const text = next();
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((item) => rebuilt(item, results));
  if (!isObject(value)) return value;
  const members = new Map<string, Json>();
  for (const member of Object.values(value)) {
    const name = next();
    let free = name;
    for (let count = 2; members.has(free); count++) free = `${name} ${count}`;
    members.set(free, rebuilt(member, results));
  }
  return Object.fromEntries(members) as JsonObject;
}
