import { type Scored, type Share, shareOf } from './evaluation.js';

interface ChangedRecord {
  readonly recordId: string;
  readonly group: string | null;
}

interface Change {
  /** Counts only records that both evaluations have scored. */
  readonly before: Share;
  readonly after: Share;
  readonly turnedRight: number;
  readonly turnedWrong: number;
}

export interface EvaluationComparison extends Change {
  readonly groups: readonly (Change & { readonly group: string | null })[];
  readonly right: readonly ChangedRecord[];
  readonly wrong: readonly ChangedRecord[];
}

/** Compares two evaluations that have at least one scored record in common. */
export function compareScores(before: readonly Scored[], after: readonly Scored[]): EvaluationComparison {
  const earlier = new Map(before.map((result) => [result.position, result]));
  const pairs = after.flatMap((now): Pair[] => {
    const then = earlier.get(now.position);
    return then ? [{ then, now }] : [];
  });
  const groups = [...new Set(pairs.map(({ now }) => now.group))];
  return {
    ...change(pairs),
    groups: groups.map((group) => ({ group, ...change(pairs.filter(({ now }) => now.group === group)) })),
    right: pairs.filter(turnedRight).map(recordOf),
    wrong: pairs.filter(turnedWrong).map(recordOf),
  };
}

interface Pair {
  readonly then: Scored;
  readonly now: Scored;
}

const turnedRight = ({ then, now }: Pair) => now.score > then.score;
const turnedWrong = ({ then, now }: Pair) => now.score < then.score;
const recordOf = ({ now: { recordId, group } }: Pair): ChangedRecord => ({ recordId, group });

const change = (pairs: readonly Pair[]): Change => ({
  before: shareOf(pairs.filter(({ then }) => then.score === 1).length, pairs.length),
  after: shareOf(pairs.filter(({ now }) => now.score === 1).length, pairs.length),
  turnedRight: pairs.filter(turnedRight).length,
  turnedWrong: pairs.filter(turnedWrong).length,
});
