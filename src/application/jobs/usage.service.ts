import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { KeyRestricted } from '../../domain/accounts/key-restrictions.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Usage, type UsageBucket, type UsageEntry, type UsageGroup } from '../../domain/jobs/usage.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, UnitOfWork } from '../shared/ports.js';
import { FINISHING } from './job-finisher.js';
import { UsageRepository } from './ports.js';

interface UsageRequest extends WithMemory {
  readonly since: Date | null;
  readonly until: Date | null;
  readonly bucket: UsageBucket;
  readonly groupBy: UsageGroup | null;
}

interface Period {
  readonly since: Date;
  readonly until: Date;
  readonly entries: readonly UsageEntry[];
}

/** The usual length of an entry as JSON, in bytes. */
const ENTRY_BYTES = 400;

@injectable()
export class UsageService {
  constructor(
    private readonly usage: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /** Sums up the calls that the caller may see. Throws InvalidRequest, KeyRestricted. */
  async read(by: Caller | null, { since, until, bucket, groupBy, memory }: UsageRequest): Promise<Period> {
    const caller = authorize(by, permissions.readJobs);
    const projects = KeyScope.projectsOf(caller);
    if (projects && groupBy !== null && groupBy !== 'project')
      throw new KeyRestricted('is for some projects, so it reads usage only as a whole or by project');
    const scope = Usage.scopeSeenBy(caller);
    const now = this.clock.now();
    const period = Usage.period(bucket, since, until, now);
    const query = { scope, bucket, groupBy, projects, ...period };
    await memory.reserve((await this.usage.size(query)) * ENTRY_BYTES);
    const begin = since ?? period.since;
    const end = until ?? new Date(Math.max(begin.getTime(), now.getTime()));
    return { since: begin, until: end, entries: await this.usage.sums(query) };
  }
}

const ROLLING_UP = 'rolling up usage';
/** A call can make some forty sums, and a unit of work must end in time. */
const AT_ONCE = 200;
/** Limits a run, because `CallReaper` waits for it. */
const BATCHES = 100;

/** Rolls up the usage of finished calls. Each call is counted once, even if several instances do this. */
@injectable()
export class UsageRollUp {
  constructor(
    private readonly usage: UsageRepository,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    if ((await this.usage.unrolled()) === null) return;
    const last = await this.unitOfWork.locked(FINISHING, () => this.usage.unrolled());
    if (last === null) return; // another instance was faster
    const now = this.clock.now();
    const rollUp = () => this.usage.rollUp(last, AT_ONCE, now);
    for (let batch = 0; batch < BATCHES; batch++) if (!(await this.unitOfWork.locked(ROLLING_UP, rollUp))) return;
  }
}
