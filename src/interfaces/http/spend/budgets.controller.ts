import { injectable } from 'inversify';
import { Clock, ServiceSettings } from '../../../application/shared/ports.js';
import { BudgetService } from '../../../application/spend/budget.service.js';
import type { SpentBudget } from '../../../application/spend/ports.js';
import { MASTER } from '../../../domain/jobs/job.js';
import { Budget } from '../../../domain/spend/budget.js';
import { costText } from '../../../domain/spend/cost.js';
import { answerFrom, deleted, hidden, paged } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { seconds } from '../schemas.js';
import * as contracts from './budgets.contract.js';

@injectable()
export class BudgetsController implements Controller {
  readonly routes = [
    route(contracts.listBudgets, async ({ caller, query: { limit, cursor: after = null } }) => {
      const found = await this.budgets.list(caller, { page: { limit: limit + 1, after } });
      const page = { items: found.slice(0, limit), more: found.length > limit };
      return paged('budgets', page, (budget) => this.answer(budget));
    }),
    route(contracts.createBudget, async ({ caller, body }) => {
      const { scope_id: scopeId, on_exceed: onExceed, ...input } = body;
      return this.answer(await this.budgets.create(caller, { ...input, scopeId, onExceed }));
    }),
    route(contracts.readBudget, async ({ caller, params }) =>
      this.answer(await this.budgets.read(caller, { id: params.budget_id })),
    ),
    route(contracts.changeBudget, async ({ caller, params, body: { limit, on_exceed: onExceed } }) =>
      this.answer(await this.budgets.change(caller, { id: params.budget_id, limit, onExceed })),
    ),
    route(contracts.deleteBudget, ({ caller, params: { budget_id: id } }) =>
      deleted(id, this.budgets.delete(caller, { id })),
    ),
  ];

  readonly exists: Existence<'budget_id'> = {
    budget_id: ({ caller, params }) => this.budgets.read(caller, { id: params.budget_id }),
  };

  constructor(
    private readonly budgets: BudgetService,
    private readonly settings: ServiceSettings,
    private readonly clock: Clock,
  ) {}

  private answer({ spent: { settled, held }, ...budget }: SpentBudget) {
    const resetsAt = Budget.resetsAt(budget.period, this.clock.now());
    return answerFrom(contracts.readBudget.answer, budget, {
      limit: Number(costText(budget.limit)),
      created_by: budget.createdBy ?? MASTER,
      settled: costText(settled),
      held: costText(held),
      remaining: costText(budget.limit - settled - held),
      resets_at: resetsAt && seconds(resetsAt),
      currency: this.settings.currency,
      team_id: hidden,
      of_admin: hidden,
    });
  }
}
