import { injectable } from 'inversify';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule } from '../../domain/alerts/alert-rule.js';
import { type FinishedJob, Job } from '../../domain/jobs/job.js';
import { AlertNotifier, AlertRepository, AlertRuleRepository } from '../alerts/ports.js';
import { Batches, type Outcome } from '../shared/batches.js';
import { IdGenerator, Locks, Logger, Sharing } from '../shared/ports.js';
import { JobHistory, JobRepository } from './ports.js';

/** Whoever finishes jobs or changes rules stands in this line. */
export const FINISHING = 'finishing jobs';

const AT_ONCE = 200;

interface Ending {
  readonly id: string;
  readonly end: (stored: Job | null) => Job;
}

/**
 * The one way in which a job comes to its end. In the same transaction every rule looks at it, so that no alert is lost
 * or doubled; jobs that end at the same time share a transaction.
 */
@injectable()
export class FinishJobs {
  private readonly endings: Batches<Ending, Job>;

  constructor(
    private readonly line: Locks,
    private readonly jobs: JobRepository,
    private readonly history: JobHistory,
    private readonly rules: AlertRuleRepository,
    private readonly alerts: AlertRepository,
    private readonly notifier: AlertNotifier,
    private readonly ids: IdGenerator,
    private readonly log: Logger,
    sharing: Sharing,
  ) {
    this.endings = new Batches(sharing, AT_ONCE, (endings) => this.finish(endings));
  }

  /**
   * Resolves once the end is stored. `end` makes the finished job of the stored one, if there is any; it is a pure
   * function, and what it throws is thrown here. Where it makes one of nothing, that is good for a stored one that has
   * not finished as well. Not for use inside of a unit of work.
   */
  async execute(id: string, end: Ending['end']): Promise<Job> {
    const job = await this.endings.add({ id, end });
    this.log.info('job ended', { job_id: id, kind: job.kind, status: job.status });
    return job;
  }

  private async finish(endings: readonly Ending[]): Promise<Outcome<Job>[]> {
    const known = knownOf(endings);
    const written = new Set(known.length > 0 ? await this.history.appendUnnoticed(FINISHING, known) : []);
    const rest = endings.filter(({ id }) => !written.has(id));
    const others = rest.length > 0 ? await this.finishInLine(rest) : [];
    const done = known.filter(({ id }) => written.has(id)).map((result) => [result.id, { result }] as const);
    const outcomes = new Map<string, Outcome<Job>>(done);
    return endings.map(({ id }) => outcomes.get(id) ?? (others.shift() as Outcome<Job>));
  }

  private finishInLine(endings: readonly Ending[]): Promise<Outcome<Job>[]> {
    return this.line.run(FINISHING, async () => {
      const stored = new Map((await this.jobs.hold(endings.map(({ id }) => id))).map((job) => [job.id, job]));
      const outcomes = endings.map(({ id, end }): Outcome<Job> => {
        try {
          const job = end(stored.get(id) ?? null);
          stored.set(id, job); // who ends it once more in the same batch finds it finished
          return { result: job };
        } catch (error) {
          return { error };
        }
      });
      const finished = outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : []));
      const ended = finished.filter(Job.isFinished);
      if (ended.length > 0) await this.write(ended);
      return outcomes;
    });
  }

  private async write(finished: readonly (Job & FinishedJob)[]): Promise<void> {
    const before = await this.rules.all();
    const { rules, alerts } = this.observed(before, finished);
    await this.history.append(finished);
    if (alerts.length > 0) {
      await this.alerts.add(alerts);
      await this.notifier.announce(alerts);
    }
    const changed = rules.filter((rule, index) => rule !== before[index]);
    if (changed.length > 0) await this.rules.save(changed);
  }

  private observed(before: readonly AlertRule[], finished: readonly FinishedJob[]) {
    let rules = before;
    const alerts: Alert[] = [];
    for (const job of finished) {
      rules = rules.map((one) => {
        const { rule, fires } = AlertRule.observe(one, job);
        if (fires) alerts.push(Alert.of(rule, job, this.ids.next('alr')));
        return rule;
      });
    }
    return { rules, alerts };
  }
}

/** The finished jobs, where each can be made of nothing that is stored; else none. */
function knownOf(endings: readonly Ending[]): (Job & FinishedJob)[] {
  if (new Set(endings.map(({ id }) => id)).size < endings.length) return [];
  try {
    return endings.map(({ end }) => end(null)).filter(Job.isFinished);
  } catch {
    return [];
  }
}
