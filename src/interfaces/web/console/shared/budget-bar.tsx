import { levelOf, type SpentAmounts, sharesOf } from './amounts.js';
import { State } from './states.js';

/** Draws what is settled and held of a budget as a bar. The text beside it says the same. */
export function BudgetBar({ budget }: { budget: SpentAmounts }) {
  const { settled, held } = sharesOf(budget);
  return (
    <svg class={`budget-bar ${levelOf(budget)}`} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="budget-settled" width={settled * 100} height="10" />
      <rect class="budget-held" x={settled * 100} width={held * 100} height="10" />
    </svg>
  );
}

/** Marks a budget that is nearly used, or wholly. */
export function BudgetState({ budget }: { budget: SpentAmounts }) {
  const level = levelOf(budget);
  if (level === 'free') return null;
  return <State of={level === 'near' ? 'nearly used' : 'used up'} tone={level === 'near' ? 'warn' : 'bad'} />;
}
