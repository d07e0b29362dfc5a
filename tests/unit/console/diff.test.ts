import { diffLines, foldUnchanged } from '../../../src/interfaces/web/console/shared/diff.js';

const signs = { same: ' ', removed: '-', added: '+' };
const written = (before: string, after: string, most?: number) =>
  diffLines(before, after, most).map(({ kind, text }) => signs[kind] + text);

describe('diffLines', () => {
  it('returns unchanged, removed and added lines, with their numbers in both texts', () => {
    expect(written('a\nb\nc\nd', 'a\nc\nx\nd')).toEqual([' a', '-b', ' c', '+x', ' d']);
    expect(written('same', 'same')).toEqual([' same']);
    expect(written('', 'new')).toEqual(['-', '+new']);
    expect(written('a\nb', 'c')).toEqual(['-a', '-b', '+c']);
    expect(diffLines('a\nb\nc', 'a\nx\nc').map(({ before, after }) => [before, after])).toEqual([
      [1, 1],
      [2, null],
      [null, 2],
      [3, 3],
    ]);
  });

  it('finds the fewest changes, and both texts can be made from them', () => {
    expect(written('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc').filter((line) => !line.startsWith(' '))).toHaveLength(5);
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const text = () => Array.from({ length: random(12) }, () => 'abc'[random(3)]).join('\n');
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text);
      expect(without('added').join('\n')).toBe(before);
      expect(without('removed').join('\n')).toBe(after);
      const kept = lines.filter(({ kind }) => kind === 'same').length;
      expect(kept).toBe(longestCommon(before.split('\n'), after.split('\n')));
    }
  });

  it('treats texts with too many differences as wholly different, and takes less than a second', () => {
    expect(written('a\nb\nkept\nc', 'x\ny\nkept\nz', 3)).toEqual([
      '-a',
      '-b',
      '-kept',
      '-c',
      '+x',
      '+y',
      '+kept',
      '+z',
    ]);
    const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
    const start = performance.now();
    expect(diffLines(lines('old'), lines('new'))).toHaveLength(40_000);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('returns lines that `foldUnchanged` folds if they are far from a change', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\nx');
    expect(foldUnchanged(lines, 2).map(({ folded, lines: part }) => [folded, part.length])).toEqual([
      [true, 4],
      [false, 4],
    ]);
    expect(foldUnchanged(diffLines('a', 'a'))).toMatchObject([{ folded: true }]);
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const left of a) {
    const next = [0];
    for (const [j, right] of b.entries())
      next.push(left === right ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number));
    row = next;
  }
  return row.at(-1) as number;
}
