import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { budgetActions, budgetLimits, budgetPeriods, budgetScopes, budgetUnits } from '../../../domain/spend/budget.js';
import { contractsOf } from '../contract.js';
import { Page, pageOfList } from '../paging.js';
import { ActorId, Currency, choice, Deleted, id, namedObject, number, Timestamp, text, textLike } from '../schemas.js';

const api = contractsOf('Budgets');
const path = '/v1/budgets';
const one = `${path}/{budget_id}` as const;

const amount = (description: string, example: string) =>
  z
    .string()
    .meta({ pattern: '^-?\\d+\\.\\d{9}$', description: `${description} Exact, with nine decimal places.`, example });

const BudgetAnswer = namedObject('Budget', {
  id: id('bud'),
  scope: z.enum(budgetScopes),
  scope_id: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'The id of the team, project, account or API key.'),
  unit: z.enum(budgetUnits),
  limit: z.number().meta({ example: 20 }),
  period: z.enum(budgetPeriods),
  on_exceed: z.enum(budgetActions),
  created_by: ActorId,
  created_at: Timestamp,
  settled: amount('What the calls of this period have taken.', '12.500000000'),
  held: amount('What the calls that run hold.', '1.000000000'),
  remaining: amount('The limit without `settled` and `held`. It can be negative.', '6.500000000'),
  resets_at: Timestamp.nullable().describe('The end of this period, in seconds since the epoch. Null for `total`.'),
  currency: Currency,
});

const limit = number().meta({
  minimum: 0,
  maximum: budgetLimits.limit,
  description: 'At most nine decimal places. A whole number of tokens or calls.',
  example: 20,
});
const onExceed = choice(budgetActions).describe(
  '`refuse`: calls without room get 429 `budget_exceeded`. `alert`: they are answered.',
);

export const listBudgets = api.get(path, {
  id: 'listBudgets',
  summary: 'List budgets',
  description: 'Newest first. Admins see the budgets of their team, other accounts those of their own API keys.',
  access: permissions.useBudgets,
  query: Page,
  answer: pageOfList('budgets', BudgetAnswer, 'Budgets'),
});

export const createBudget = api.post(path, {
  id: 'createBudget',
  summary: 'Create a budget',
  description:
    'Limits what the calls of a team, a project, an account or an API key take in each period. Periods begin at full ' +
    'minutes, hours, days, Mondays or months in UTC. The present period counts the calls that it has already seen: seconds only ' +
    'of the last 29 days. Before a model begins, a call takes a hold for the most that it can take. Its end turns the hold into what it ' +
    'has taken. A call belongs to the period in which it arrived. Admins create any budget of their team, other accounts ' +
    'only those of their own API keys.',
  access: permissions.changeBudgets,
  body: z
    .object({
      scope: choice(budgetScopes),
      scope_id: text().meta({ description: 'The id of the team, project, account or API key.' }),
      unit: choice(budgetUnits),
      limit,
      period: choice(budgetPeriods),
      on_exceed: onExceed.default('refuse'),
    })
    .meta({
      id: 'NewBudget',
      example: {
        scope: 'team',
        scope_id: 'tea_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
        unit: 'cost',
        limit: 20,
        period: 'month',
      },
    }),
  status: 201,
  answer: BudgetAnswer,
  refusals: ['forbidden'],
});

export const readBudget = api.get(one, {
  id: 'readBudget',
  summary: 'Read a budget',
  access: permissions.useBudgets,
  answer: BudgetAnswer,
});

export const changeBudget = api.patch(one, {
  id: 'changeBudget',
  summary: 'Change a budget',
  description: 'An account cannot change a budget that an admin has created or changed on its API key.',
  access: permissions.changeBudgets,
  body: z
    .object({ limit: limit.optional(), on_exceed: onExceed.optional() })
    .meta({ id: 'BudgetChange', example: { limit: 50 } }),
  answer: BudgetAnswer,
  refusals: ['forbidden'],
});

export const deleteBudget = api.delete(one, {
  id: 'deleteBudget',
  summary: 'Delete a budget',
  description: 'An account cannot delete a budget that an admin has created or changed on its API key.',
  access: permissions.changeBudgets,
  answer: Deleted,
  refusals: ['forbidden'],
});
