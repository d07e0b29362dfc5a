import { setTimeout as pause } from 'node:timers/promises';
import { CallTracker } from '../../src/application/jobs/call-tracker.js';
import { BudgetGuard } from '../../src/application/spend/budget-guard.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { createContainer } from '../../src/bootstrap/container.js';
import { costText } from '../../src/domain/spend/cost.js';
import { createDataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { MemoryLogger } from '../../tests/fakes/shared/memory-logger.js';
import { query } from '../../tests/support/database.js';
import { accountCaller, randomCalls } from '../../tests/support/random-calls.js';
import type { Service } from '../../tests/support/service.js';
import { createProject, type Member } from '../../tests/support/workspace.js';
import { told, wanted } from '../rounds.js';
import { budget } from './stage.js';

/** Makes random calls, and compares the budget, the usage and the jobs. */
export async function sums(service: Service, databaseUrl: string, admin: Member, count: number): Promise<void> {
  const projectId = await createProject(service, admin.token);
  const about = { scope: 'project', scope_id: projectId, unit: 'cost', period: 'total', limit: 1_000_000_000_000 };
  const id = await budget(service, admin, about);
  const database = await createDataSource(databaseUrl).initialize();
  try {
    const config = loadConfig({ SERVICE_SECRET: 'secret-of-the-benchmark' });
    const container = createContainer({ config, database, logger: new MemoryLogger() });
    const parts = { tracking: container.get(CallTracker), guard: container.get(BudgetGuard) };
    const [account] = await query<{ team_id: string }>(databaseUrl, 'SELECT team_id FROM accounts WHERE id = $1', [
      admin.id,
    ]);
    const by = accountCaller({ accountId: admin.id, teamId: account?.team_id ?? '', credentialId: 'key_of_the_bench' });
    const began = performance.now();
    const sum = costText(await randomCalls(parts, { by, projectId, count }));
    told('random calls a second', (1_000 * count) / (performance.now() - began));
    const { body } = await service.get(`/v1/budgets/${id}`, admin.token);
    // The usage has only the newest thousands of the calls that are not rolled up yet.
    let days: readonly { readonly cost: string }[] = [];
    for (
      const until = performance.now() + 60_000;
      performance.now() < until && days[0]?.cost !== sum;
      await pause(500)
    ) {
      const { usage } = (await service.get('/v1/usage?bucket=day&group_by=project', admin.token)).body;
      days = usage.filter(({ group }: { group: string }) => group === projectId);
    }
    const [jobs] = await query<{ sum: string }>(
      databaseUrl,
      'SELECT sum(cost)::text AS sum FROM jobs WHERE project_id = $1',
      [projectId],
    );
    const others = [body.settled, jobs?.sum, days.length === 1 ? days[0]?.cost : null];
    wanted(
      `budget, jobs and usage equal to ${sum} after ${count} calls`,
      others.filter((one) => one === sum).length,
      'at least',
      3,
    );
  } finally {
    await database.destroy();
  }
}
