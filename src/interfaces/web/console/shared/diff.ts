/** A line of two compared texts. It has a number in each text that contains it. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** The most lines that may differ. With more, the two texts count as wholly different. This limits time and memory. */
const MOST_EDITS = 1_000;

/** Returns the lines of both texts. The number of removed and added lines is minimal (Myers, O(ND)). */
export function diffLines(before: string, after: string, mostEdits = MOST_EDITS): readonly DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')];
  const shortest = Math.min(old.length, young.length);
  let start = 0;
  while (start < shortest && old[start] === young[start]) start += 1;
  let end = 0;
  while (end < shortest - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end += 1;
  const lines: DiffLine[] = [];
  let [x, y] = [0, 0];
  const same = () => lines.push({ kind: 'same', text: old[x] as string, before: ++x, after: ++y });
  const remove = () => lines.push({ kind: 'removed', text: old[x] as string, before: ++x, after: null });
  const add = () => lines.push({ kind: 'added', text: young[y] as string, before: null, after: ++y });
  const steps = { same, removed: remove, added: add };
  while (x < start) same();
  const changed = { old: old.slice(start, old.length - end), young: young.slice(start, young.length - end) };
  for (const kind of shortestEdits(changed.old, changed.young, mostEdits)) steps[kind]();
  while (x < old.length) same();
  return lines;
}

type Kind = DiffLine['kind'];

/** Returns the kinds of the lines in order. If more than `most` lines differ, all old are removed and all new added. */
function shortestEdits(old: readonly string[], young: readonly string[], most: number): Kind[] {
  const furthest = new Int32Array(2 * most + 3);
  const at = (k: number) => furthest[k + most + 1] as number;
  const rounds: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    rounds.push(furthest.slice(most + 1 - edits - 1, most + 1 + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const adds = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
      let x = adds ? at(k + 1) : at(k - 1) + 1;
      while (x < old.length && x - k < young.length && old[x] === young[x - k]) x += 1;
      furthest[k + most + 1] = x;
      if (x >= old.length && x - k >= young.length) return walkBack(rounds, old.length, young.length);
    }
  }
  return [...old.map(() => 'removed' as const), ...young.map(() => 'added' as const)];
}

/** Follows the rounds from the end to the start. `rounds[edits]` has each diagonal's furthest x before that round. */
function walkBack(rounds: readonly Int32Array[], width: number, height: number): Kind[] {
  const kinds: Kind[] = [];
  let [x, y] = [width, height];
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const at = (k: number) => rounds[edits]?.[k + edits + 1] as number;
    const k = x - y;
    const adds = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const startX = edits === 0 ? 0 : adds ? at(k + 1) : at(k - 1) + 1;
    for (; x > startX; x -= 1, y -= 1) kinds.push('same');
    if (edits === 0) break;
    kinds.push(adds ? 'added' : 'removed');
    if (adds) y -= 1;
    else x -= 1;
  }
  return kinds.reverse();
}

/** A run of shown lines, or of unchanged lines that are folded. */
export interface DiffPart {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
}

/** Folds unchanged lines that are more than `context` lines away from a change. */
export function foldUnchanged(lines: readonly DiffLine[], context = 3): readonly DiffPart[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') near.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const parts: { folded: boolean; lines: DiffLine[] }[] = [];
  lines.forEach((line, index) => {
    const folded = near[index] === 0;
    const last = parts.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else parts.push({ folded, lines: [line] });
  });
  return parts;
}
