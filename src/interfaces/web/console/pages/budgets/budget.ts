import { status, user } from '../../shared/account.js';
import type { Schemas } from '../../shared/api.js';
import { formatCost } from '../../shared/format.js';

export type Budget = Schemas['Budget'];

export const PERIODS: Readonly<Record<Budget['period'], string>> = {
  minute: 'each minute',
  hour: 'each hour',
  day: 'each day',
  week: 'each week',
  month: 'each month',
  total: 'for all time',
};

export const isAdmin = (): boolean => status.value?.caller.role === 'admin';

/** Tells whether the caller may change a budget. Nobody but an admin changes what an admin has set. */
export const mayChange = ({ created_by }: Budget): boolean => isAdmin() || created_by === user.value?.id;

const unitOf = ({ unit, currency }: Budget): string =>
  unit === 'cost' ? currency : unit === 'seconds' ? 'seconds of calls' : unit;

/** Returns the limit in words, such as `20 USD each month`. */
export const limitOf = (budget: Budget): string =>
  `${budget.limit.toLocaleString('en-GB', { maximumFractionDigits: 9 })} ${unitOf(budget)} ${PERIODS[budget.period]}`;

/** Returns what is settled, held and left, in words. */
export const spentOf = ({ settled, held, remaining }: Budget): string =>
  `${formatCost(settled)} settled, ${formatCost(held)} held, ${formatCost(remaining)} left`;
