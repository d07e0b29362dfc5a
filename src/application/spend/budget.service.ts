import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { RoleForbidden } from '../../domain/accounts/errors.js';
import { KeyRestricted } from '../../domain/accounts/key-restrictions.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest, LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Budget, type BudgetChange, type BudgetInput, budgetLimits } from '../../domain/spend/budget.js';
import { Audit } from '../audit/audit.service.js';
import { FINISHING } from '../jobs/job-finisher.js';
import { Clock, IdGenerator, type Page, UnitOfWork } from '../shared/ports.js';
import { BudgetRepository, type SpentBudget } from './ports.js';

interface OfBudget {
  readonly id: string;
}

/** Manages budgets. Admins manage those of their team, other accounts those of their own API keys. */
@injectable()
export class BudgetService {
  constructor(
    private readonly budgets: BudgetRepository,
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Lists the budgets that the caller may see, newest first. One more than `limit` tells that there are more. */
  async list(by: Caller | null, { page }: { readonly page: Page }): Promise<SpentBudget[]> {
    const caller = authorize(by, permissions.useBudgets);
    const teamId = caller.kind === 'master' ? null : caller.teamId;
    const isOwn = caller.kind !== 'master' && !Budget.isAdmin(caller);
    const keys = isOwn ? await this.budgets.keysOf(caller.accountId) : undefined;
    const projects = KeyScope.projectsOf(caller);
    const only = projects && caller.kind !== 'master' ? [...projects, caller.credentialId] : null;
    return this.budgets.list({ teamId, keys, only }, page, this.clock.now());
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id }: OfBudget): Promise<SpentBudget> {
    return this.seen(authorize(by, permissions.useBudgets), id);
  }

  /**
   * Creates a budget. Its present period has spent what calls have spent since the start of the period. Holds the lock
   * `FINISHING`, so that no call ends meanwhile. Throws InvalidRequest, RoleForbidden, LimitReached.
   */
  async create(by: Caller | null, input: BudgetInput): Promise<SpentBudget> {
    const caller = authorize(by, permissions.changeBudgets);
    const teamId = await this.budgets.teamOf(input.scope, input.scopeId);
    const isTeams = teamId !== null && (caller.kind === 'master' || caller.teamId === teamId);
    if (!isTeams) {
      const message =
        input.scope === 'team' ? 'must be the id of your team' : `must be the id of a ${input.scope} of your team`;
      throw new InvalidRequest([{ path: 'scope_id', message }]);
    }
    requireReach(caller, input);
    const ofAdmin = Budget.isAdmin(caller);
    if (!ofAdmin && !(await this.isOwnKey(caller, input))) throw new RoleForbidden(['admin']);
    const createdBy = caller.kind === 'master' ? null : caller.accountId;
    const about = { id: this.ids.next('bud'), teamId, createdBy, ofAdmin };
    const create = () => Budget.create({ ...input, ...about, createdAt: this.clock.now() });
    const early = create();
    const last = await this.unitOfWork.locked(FINISHING, () => this.budgets.lastEnd());
    const counted = await this.budgets.counted(early, last);
    return this.unitOfWork.locked(FINISHING, async () => {
      const budget = create();
      const { budgets: most } = budgetLimits;
      if ((await this.budgets.count(teamId)) >= most) throw new LimitReached(most, 'budgets');
      await this.budgets.add(budget, counted);
      const { scope, scopeId: scope_id, unit, period } = budget;
      const details = { scope, scope_id, unit, period, limit: input.limit };
      await this.audit.record({ by: caller, action: 'budget.created', object: budget, details });
      return this.find(budget.id);
    });
  }

  /** Changes the given fields. Others, which another call may change meanwhile, stay. Throws NotFound, RoleForbidden, InvalidRequest. */
  async change(by: Caller | null, { id, ...change }: OfBudget & BudgetChange): Promise<SpentBudget> {
    const caller = authorize(by, permissions.changeBudgets);
    const object = await this.changeable(caller, id);
    const asked = Budget.changes(object, change);
    if (Object.keys(asked).length === 0) return object;
    const changes = { ...asked, ...(Budget.isAdmin(caller) && { ofAdmin: true }) };
    const details = { limit: change.limit, on_exceed: change.onExceed };
    const act = { by: caller, action: 'budget.changed', object, details } as const;
    if (!(await this.audit.perform(act, () => this.budgets.update(id, changes)))) throw new NotFound('budget');
    return this.find(id);
  }

  /** Deletes a budget. Calls that run keep nothing of it. Throws NotFound, RoleForbidden. */
  async delete(by: Caller | null, { id }: OfBudget): Promise<void> {
    const caller = authorize(by, permissions.changeBudgets);
    const object = await this.changeable(caller, id);
    const act = { by: caller, action: 'budget.deleted', object } as const;
    if (!(await this.audit.perform(act, () => this.budgets.remove(id)))) throw new NotFound('budget');
  }

  private async changeable(caller: Caller, id: string): Promise<SpentBudget> {
    const budget = await this.seen(caller, id);
    if (budget.ofAdmin && !Budget.isAdmin(caller)) throw new RoleForbidden(['admin']);
    if (isOfItsKey(caller, budget)) throw new KeyRestricted('cannot change or delete a budget of its own');
    return budget;
  }

  private async seen(caller: Caller, id: string): Promise<SpentBudget> {
    const budget = await this.find(id);
    if (caller.kind === 'master') return budget;
    const isSeen =
      hasReach(caller, budget) &&
      budget.teamId === caller.teamId &&
      (Budget.isAdmin(caller) || (await this.isOwnKey(caller, budget)));
    if (!isSeen) throw new NotFound('budget');
    return budget;
  }

  private async isOwnKey(caller: Caller, { scope, scopeId }: Pick<Budget, 'scope' | 'scopeId'>): Promise<boolean> {
    if (caller.kind === 'master' || scope !== 'key') return false;
    return (await this.budgets.keysOf(caller.accountId)).includes(scopeId);
  }

  private async find(id: string): Promise<SpentBudget> {
    const budget = await this.budgets.find(id, this.clock.now());
    if (!budget) throw new NotFound('budget');
    return budget;
  }
}

type Scoped = Pick<Budget, 'scope' | 'scopeId'>;

const isOfItsKey = (caller: Caller, { scope, scopeId }: Scoped): boolean =>
  caller.kind === 'api_key' && scope === 'key' && scopeId === caller.credentialId;

/** A key for some projects reaches the budgets of these projects and its own. */
const hasReach = (caller: Caller, { scope, scopeId }: Scoped): boolean =>
  isOfItsKey(caller, { scope, scopeId }) || KeyScope.covers(caller, scope === 'project' ? scopeId : null);

function requireReach(caller: Caller, budget: Scoped): void {
  if (!hasReach(caller, budget)) throw new KeyRestricted('is for some projects, and the budget is not for one of them');
}
