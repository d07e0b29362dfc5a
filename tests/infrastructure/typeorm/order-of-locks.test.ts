import { Budget, type BudgetScope } from '../../../src/domain/spend/budget.js';
import type { Amounts } from '../../../src/domain/spend/demand.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aCall, anAccount, aProject, aTeam, at, ended, ids } from '../../support/records.js';
import { until } from '../../support/until.js';

describe('a statement in which calls end and others begin', () => {
  const store = postgresUnderTest();
  const nothing: Amounts = { cost: 0n, tokens: 0n, calls: 0n, seconds: 0n };
  const demand = { promptTokens: 1, answers: 1, mostTokens: 1, isExact: true, mostMs: 1_000, prices: null };

  it.each([
    {
      period: 'total',
      begins: at(1),
      other: 'SELECT FROM budget_periods WHERE budget_id = $1 AND start <= $2 FOR UPDATE',
    },
    { period: 'minute', begins: at(61), other: 'INSERT INTO budget_periods VALUES ($1, $2)' },
  ] as const)('waits for the $period of a project before it locks that of an account', async (about) => {
    const { teams, accounts, projects, budgets, holds, jobHistory } = await store.open();
    const team = aTeam();
    const account = anAccount(team);
    const [project, other] = [aProject(team), aProject(team)];
    await teams.add(team);
    await accounts.add(account);
    for (const one of [project, other]) await projects.add(one);
    const budget = async (scope: BudgetScope, scopeId: string) => {
      const id = ids.next('bud');
      const { period } = about;
      const rest = { limit: 9_000_000_000n, onExceed: 'refuse', createdBy: null, ofAdmin: true } as const;
      await budgets.add({ id, teamId: team.id, scope, scopeId, unit: 'calls', period, ...rest, createdAt: at(0) });
      return id;
    };
    const [ofAccount, ofProject] = [await budget('account', account.id), await budget('project', other.id)];
    const scopes = { teamId: team.id, accountId: account.id, keyId: null, instance: 1 };
    const callId = ids.next('job');
    await holds.take({ ...scopes, callId, projectId: project.id }, demand, at(1));

    const blocker = store.source.createQueryRunner();
    const lock = 'SELECT FROM budget_periods WHERE budget_id = $1 FOR UPDATE NOWAIT';
    await blocker.startTransaction();
    await blocker.query(about.other, [ofProject, Budget.start(about.period, about.begins)]);
    const job = { teamId: team.id, projectId: project.id, requestedBy: account.id };
    const charge = { taken: nothing, isHeld: true };
    const alone = jobHistory.appendWithoutRules(ended(aCall(job)), { charge });
    const end = jobHistory.appendWithoutRules(ended(aCall({ ...job, id: callId })), { charge });
    const begin = holds.take({ ...scopes, callId: ids.next('job'), projectId: other.id }, demand, about.begins);
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await until('the statement waits', async () => (await store.source.query(waiting)).length === 1);
    await blocker.query(lock, [ofAccount]); // throws if the statement has locked it
    await blocker.commitTransaction();
    await blocker.release();
    expect(await Promise.all([alone, end, begin])).toMatchObject([true, true, { budgets: 2 }]);
  });
});
