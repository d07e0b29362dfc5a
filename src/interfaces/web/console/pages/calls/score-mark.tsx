import type { Schemas } from '../../shared/api.js';
import { formatNumber } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';

type Feedback = Schemas['Feedback'];

/** Returns the word for a score. */
export const scoreWord = (score: number): string => (score > 0 ? 'good' : score < 0 ? 'bad' : 'neutral');

/** Shows a score from -1 to 1. One that is not whole has its number. */
export const Score = ({ score }: { score: number }) => (
  <span class={`calls-score ${scoreWord(score)}`}>
    {score !== 0 && <Icon name={score > 0 ? 'good' : 'bad'} />}
    {scoreWord(score)}
    {!Number.isInteger(score) && ` ${formatNumber(score)}`}
  </span>
);

/** Shows what people say about a call now: their scores and labels. */
export function ScoreMark({ feedback }: { feedback: readonly Feedback[] }) {
  const current = feedback.filter(({ is_current }) => is_current);
  const labels = [...new Set(current.flatMap(({ label }) => label ?? []))];
  if (current.length === 0) return <>–</>;
  return (
    <span class="calls-marks">
      {current.map(({ id, score }) => score !== null && <Score key={id} score={score} />)}
      {labels.map((label) => (
        <span key={label} class="badge">
          {label}
        </span>
      ))}
      {current.every(({ score, label }) => score === null && label === null) && 'a comment'}
    </span>
  );
}
