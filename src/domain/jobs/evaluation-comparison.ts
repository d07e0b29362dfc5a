import { percentile, type Scored, type Share, shareOf, type Tokens, tokensOf } from './evaluation.js';

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

interface BeforeAndAfter<Value> {
  readonly before: Value;
  readonly after: Value;
}

export interface EvaluationComparison extends Change {
  readonly groups: readonly (Change & { readonly group: string | null })[];
  readonly right: readonly ChangedRecord[];
  readonly wrong: readonly ChangedRecord[];
  /** The records with the same score and another output. */
  readonly changed: readonly ChangedRecord[];
  /** The median in seconds, of the records that both have answered. Null: there is none. */
  readonly latency: BeforeAndAfter<number> | null;
  /** The sums of the records with known tokens in both. Null: there is none. */
  readonly tokens: BeforeAndAfter<Tokens> | null;
}

interface Compared {
  readonly before: readonly Scored[];
  readonly after: readonly Scored[];
  /** The positions of the records with different outputs. */
  readonly differing: readonly number[];
}

/** Compares two evaluations that have at least one scored record in common. */
export function compareScores({ before, after, differing }: Compared): EvaluationComparison {
  const earlier = new Map(before.map((result) => [result.position, result]));
  const pairs = after.flatMap((now): Pair[] => {
    const then = earlier.get(now.position);
    return then ? [{ then, now }] : [];
  });
  const groups = [...new Set(pairs.map(({ now }) => now.group))];
  const others = new Set(differing);
  const answered = pairs.filter(({ then, now }) => then.error === null && now.error === null);
  return {
    ...change(pairs),
    groups: groups.map((group) => ({ group, ...change(pairs.filter(({ now }) => now.group === group)) })),
    right: pairs.filter(turnedRight).map(recordOf),
    wrong: pairs.filter(turnedWrong).map(recordOf),
    changed: pairs.filter(({ then, now }) => now.score === then.score && others.has(now.position)).map(recordOf),
    latency: beforeAndAfter(answered, (results) =>
      percentile(
        results.map(({ latency }) => latency),
        0.5,
      ),
    ),
    tokens: beforeAndAfter(
      pairs.filter(({ then, now }) => then.tokens && now.tokens),
      tokensOf,
    ),
  };
}

interface Pair {
  readonly then: Scored;
  readonly now: Scored;
}

const turnedRight = ({ then, now }: Pair) => now.score > then.score;
const turnedWrong = ({ then, now }: Pair) => now.score < then.score;
const recordOf = ({ now: { recordId, group } }: Pair): ChangedRecord => ({ recordId, group });

/** Measures both evaluations. Returns null without pairs. */
function beforeAndAfter<Value>(pairs: readonly Pair[], measure: (results: readonly Scored[]) => Value | null) {
  const [before, after] = [measure(pairs.map(({ then }) => then)), measure(pairs.map(({ now }) => now))];
  return before === null || after === null ? null : { before, after };
}

const change = (pairs: readonly Pair[]): Change => ({
  before: shareOf(pairs.filter(({ then }) => then.score === 1).length, pairs.length),
  after: shareOf(pairs.filter(({ now }) => now.score === 1).length, pairs.length),
  turnedRight: pairs.filter(turnedRight).length,
  turnedWrong: pairs.filter(turnedWrong).length,
});
