import { MaskingFailed } from '../../domain/record/errors.js';
import type { Mask, MaskKind, OwnMask } from '../../domain/record/recording.js';
import { isObject, type Json, type JsonObject } from '../../domain/workspace/json.js';
import type { Find } from './find.js';
import { folded } from './folded-text.js';
import { isJson, type JsonPart, readParts } from './json-text.js';
import { finders } from './kinds.js';
import { OwnPatterns } from './own-patterns.js';
import { hasSecretValue, holdsValue, isSecretUnder } from './secret-keys.js';

interface LabelledFind extends Find {
  readonly label: string;
}

/** A text to mask. */
interface Part {
  readonly text: string;
  /** True: it stands under the name of a secret. */
  readonly isSecret: boolean;
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
      collect(value, false, parts);
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
    const areMasked = kinds.includes('secret');
    const isWhole = ({ isSecret }: Part) => isSecret && areMasked;
    const isNeeded = (part: Part) => part.text !== '' && (own.length > 0 || mayHaveFinds(part.text) || isWhole(part));
    const leaves: Part[] = [];
    const nodes = parts.map((part) => nodeOf(part, 0, leaves, isNeeded));
    const finds = this.finds(leaves, kinds, own);
    const results = leaves.map((leaf, at) => (isWhole(leaf) ? '[secret]' : replaced(leaf.text, finds[at] ?? [])));
    return nodes.map((node) => written(node, results));
  }

  /** Returns the finds in each text. Searches the text as it is written, and as it is read. */
  private finds(leaves: readonly Part[], kinds: readonly MaskKind[], own: readonly OwnMask[]): LabelledFind[][] {
    const views = leaves.map(({ text }) => folded(text));
    const texts = own.length === 0 ? [] : [...leaves, ...views].map((view) => view?.text ?? '');
    const ownFinds = this.own.finds(texts, own);
    return leaves.map(({ text }, at) => {
      const finds = kindFinds(text, kinds);
      for (const find of ownFinds[at] ?? []) finds.push(find);
      const view = views[at];
      if (!view) return finds;
      const read = [...kindFinds(view.text, kinds), ...(ownFinds[leaves.length + at] ?? [])];
      for (const { label, from, to } of read) finds.push({ label, from: view.original(from), to: view.original(to) });
      return finds;
    });
  }
}

export const isKind = (mask: Mask): mask is MaskKind => typeof mask === 'string';

/** No find of a built-in kind is shorter, except for addresses. */
const SHORTEST = 7;
const IN_SHORT_FINDS = /[@:\uff1a\uff20]/;
const mayHaveFinds = (text: string): boolean => text.length >= SHORTEST || IN_SHORT_FINDS.test(text);

function kindFinds(text: string, kinds: readonly MaskKind[]): LabelledFind[] {
  const finds: LabelledFind[] = [];
  if (!mayHaveFinds(text)) return finds;
  for (const label of kinds) for (const { from, to } of finders[label](text)) finds.push({ label, from, to });
  return finds;
}

/** The index of a text to mask, a text that needs no masking, or a text of JSON with the parts that need it. */
type Node = number | string | { readonly text: string; readonly parts: readonly InnerNode[] };
type InnerNode = JsonPart & { readonly node: Node };

/** Adds the texts to mask to `leaves`. The parts of a text that is JSON are masked by themselves, so that it stays JSON. */
function nodeOf(part: Part, level: number, leaves: Part[], isNeeded: (part: Part) => boolean): Node {
  if (!isNeeded(part)) return part.text;
  if (level >= MOST_LEVELS || !isJson(part.text)) return leaves.push(part) - 1;
  const inner: InnerNode[] = [];
  readParts(part.text, (one) => {
    const isSecret = one.isSecret || part.isSecret;
    const node = nodeOf({ text: one.text, isSecret }, level + 1, leaves, isNeeded);
    if (typeof node !== 'string') inner.push({ ...one, node });
  });
  return { text: part.text, parts: inner };
}

function written(node: Node, results: readonly string[]): string {
  if (typeof node === 'number') return results[node] as string;
  if (typeof node === 'string') return node;
  let result = '';
  let end = 0;
  for (const { from, to, text, node: inner } of node.parts) {
    const after = written(inner, results);
    if (after === text) continue;
    result += node.text.slice(end, from) + JSON.stringify(after);
    end = to;
  }
  return result + node.text.slice(end);
}

const comesFirst = (one: Find, other: Find): number => one.from - other.from || other.to - one.to;

/** Replaces each find with its label. Finds that overlap become one. */
function replaced(text: string, finds: readonly LabelledFind[]): string {
  if (finds.length === 0) return text;
  const sorted = finds.every((find, at) => at === 0 || comesFirst(finds[at - 1] as LabelledFind, find) <= 0)
    ? finds
    : finds.toSorted(comesFirst);
  let result = '';
  let end = 0;
  for (const { label, from, to } of sorted) {
    if (from >= end) result += `${text.slice(end, from)}[${label}]`;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}

/** Lists the texts of a value: keys before their values. */
function collect(value: Json, isSecret: boolean, parts: Part[]): void {
  if (typeof value === 'string' || typeof value === 'number') parts.push({ text: String(value), isSecret });
  else if (Array.isArray(value)) for (const item of value) collect(item, isSecret, parts);
  else if (isObject(value)) {
    const members = Object.entries(value);
    const isNamed = hasSecretValue(members);
    for (const [name, member] of members) {
      parts.push({ text: name, isSecret: false });
      collect(member, isSecretUnder(name, isSecret) || (isNamed && holdsValue(name)), parts);
    }
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
  const counts = new Map<string, number>(); // so that many equal keys take linear time
  for (const member of Object.values(value)) {
    const name = next();
    let free = name;
    for (let count = counts.get(name) ?? 2; members.has(free); count++) {
      free = `${name} ${count}`;
      counts.set(name, count + 1);
    }
    members.set(free, rebuilt(member, results));
  }
  return Object.fromEntries(members) as JsonObject;
}
