import type { AlertAnnouncer } from '../../application/alerts/alert-announcer.js';
import type { Breakers } from '../../application/chat/breakers.js';
import type { ChatRuntimes } from '../../application/chat/ports.js';
import type { ModelServer } from '../../application/deployments/ports.js';
import type { SpendMeter } from '../../application/spend/spend-meter.js';
import type { RuntimeFigures, RuntimeStatus } from '../../domain/chat/runtime.js';
import { RuntimeId } from '../../domain/chat/target.js';
import { deploymentStatuses } from '../../domain/deployments/deployment.js';
import { costText } from '../../domain/spend/cost.js';
import type { LaneLoad } from '../system/scheduling.js';

export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** The name of a histogram's buckets, sum or count. */
  readonly metricName?: string;
}

export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly values: readonly Sample[];
}

/** Collects metrics of another part of the service. */
export interface MetricSource {
  /** May throw or take long. */
  readonly collect: () => readonly MetricSnapshot[] | Promise<readonly MetricSnapshot[]>;
  /** Replaces the metrics if they could not be collected in time. Default: no metrics. */
  readonly fallback?: readonly MetricSnapshot[];
}

type Values = number | readonly Sample[];

const snapshotOf = (type: MetricSnapshot['type']) => (name: string, help: string, values: Values) => ({
  name,
  help,
  type,
  values: typeof values === 'number' ? [{ value: values }] : values,
});

export const gauge = snapshotOf('gauge');
const counter = snapshotOf('counter');
export const histogram = snapshotOf('histogram');

/** The numbers of waiting and held things, the same on all instances. Mails are tasks. */
export interface Backlog {
  readonly mails: number;
  readonly failedMails: number;
  /** The age of the oldest mail; 0 without mails. */
  readonly oldestMailSeconds: number;
  readonly waitingTasks: number;
  readonly runningTasks: number;
  /** Waiting tasks whose last attempt failed. */
  readonly failedTasks: number;
  /** The calls that hold a part of budgets. */
  readonly heldCalls: number;
}

const isUp = (value: 0 | 1): MetricSnapshot =>
  gauge('tenon_database_up', 'Whether the database answered when these figures were taken: 1 or 0.', value);

/** Reports the same values in each instance. If the database does not answer, reports only that it is down. */
export const backlogMetrics = (read: () => Promise<Backlog>): MetricSource => ({
  collect: async () => {
    const { mails, failedMails, oldestMailSeconds, waitingTasks, runningTasks, failedTasks, heldCalls } = await read();
    return [
      isUp(1),
      gauge('tenon_outbox_mails', 'E-mails that are not delivered yet.', mails),
      gauge('tenon_outbox_failed_mails', 'E-mails whose delivery has failed. It is tried again.', failedMails),
      gauge(
        'tenon_outbox_oldest_mail_age_seconds',
        'Age of the oldest e-mail that is not delivered yet, or 0 if there is none.',
        oldestMailSeconds,
      ),
      gauge('tenon_queue_waiting_tasks', 'Tasks of the work queue that wait.', waitingTasks),
      gauge('tenon_queue_running_tasks', 'Tasks of the work queue that are being run.', runningTasks),
      gauge('tenon_queue_failed_tasks', 'Waiting tasks of the work queue whose last attempt failed.', failedTasks),
      gauge('tenon_budget_held_calls', 'Running calls that hold a part of budgets.', heldCalls),
    ];
  },
  fallback: [isUp(0)],
});

export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export const poolMetrics = (load: () => PoolLoad): MetricSource => ({
  collect: () => {
    const { total, idle, waiting } = load();
    return [
      gauge('tenon_database_pool_connections', 'Connections of this instance to the database.', total),
      gauge('tenon_database_pool_idle_connections', 'Connections to the database that nothing uses now.', idle),
      gauge('tenon_database_pool_waiting_requests', 'Work of this instance that waits for a connection.', waiting),
    ];
  },
});

export const hashingMetrics = (load: () => LaneLoad): MetricSource => ({
  collect: () => {
    const { running, waiting, refused } = load();
    return [
      gauge('tenon_password_hashing_running', 'Passwords that are being hashed.', running),
      gauge('tenon_password_hashing_waiting', 'Passwords that wait to be hashed.', waiting),
      counter('tenon_password_hashing_refusals_total', 'Passwords that were refused because too many waited.', refused),
    ];
  },
});

/** Counts the deployments that this instance runs, after a health probe of each. */
export const deploymentMetrics = (servers: Pick<ModelServer, 'ids' | 'probe'>): MetricSource => ({
  collect: async () => {
    const states = await Promise.all(servers.ids().map((id) => servers.probe(id)));
    const counts = countsOf('status', deploymentStatuses, (status) => states.filter((one) => one.status === status));
    return [gauge('tenon_deployments', 'Deployments of this instance, by their status at this moment.', counts)];
  },
});

/** Reports the costs of the calls that this instance has ended, and the calls that budgets have refused here. */
export const spendMetrics = (meter: Pick<SpendMeter, 'costs' | 'refusals'>, currency: string): MetricSource => ({
  collect: () => [
    counter(
      'tenon_cost_total',
      'Cost of the calls that have ended, by project and model. Some 15 digits are exact, GET /v1/usage has all.',
      meter.costs.map(({ cost, ...of }) => ({ labels: { ...of, currency }, value: Number(costText(cost)) })),
    ),
    counter(
      'tenon_budget_refusals_total',
      'Calls that were refused with budget_exceeded, by the scope of the budget.',
      meter.refusals.map(({ scope, count }) => ({ labels: { scope }, value: count })),
    ),
  ],
});

/** Reports the deliveries of alerts by this instance. */
export const announcementMetrics = ({ counts }: Pick<AlertAnnouncer, 'counts'>): MetricSource => ({
  collect: () => [
    counter(
      'tenon_alert_deliveries_total',
      'Attempts to deliver alerts, by notifier and result: delivered, retry (failed, but another attempt could help) or failed.',
      counts.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
  ],
});

const countsOf = <T extends string>(label: string, values: readonly T[], having: (value: T) => unknown[]): Sample[] =>
  values.map((value) => ({ labels: { [label]: value }, value: having(value).length }));

const runtimeStates = ['loading', 'ready', 'unavailable', 'stopped'] as const satisfies RuntimeStatus['state'][];

/** Limits the number of time series. */
const MOST_RUNTIMES = 200;

type Figures = readonly [id: string, RuntimeFigures][];

/** Reports the chat runtimes of this instance. Only those of the newest projects have their own time series. */
export const chatMetrics = (
  runtimes: Pick<ChatRuntimes, 'figures' | 'status'>,
  breakers: Pick<Breakers, 'read' | 'attemptsOf'>,
): MetricSource => ({
  collect: () => {
    const all = [...runtimes.figures()];
    const states = all.map(([id]) => runtimes.status(id).state);
    const counts = countsOf('state', runtimeStates, (state) => states.filter((one) => one === state));
    const shown = all.sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, MOST_RUNTIMES);
    const isOpen = (id: string) => (breakers.read(id).state === 'closed' ? 0 : 1);
    const attempts = shown.flatMap(([id]) =>
      [...breakers.attemptsOf(id)].map(([outcome, value]) => ({ labels: { ...RuntimeId.parts(id), outcome }, value })),
    );
    return [
      gauge('tenon_chat_runtimes', 'Chat runtimes of this instance, by state.', counts),
      gauge(
        'tenon_chat_breaker_open',
        'Whether the breaker of a model keeps calls away from it: 1 or 0.',
        shown.map(([id]) => ({ labels: RuntimeId.parts(id), value: isOpen(id) })),
      ),
      counter(
        'tenon_chat_attempts_total',
        'Attempts of calls with a model, by outcome: answered, cancelled, or the code of the error.',
        attempts,
      ),
      ...NUMBERS.map(([metric, name, help, field]) => metric(name, help, samplesOf(shown, field))),
      ...TIMES.map(([name, help, field]) => histogram(name, help, spreads(shown, name, field))),
    ];
  },
});

const NUMBERS = [
  [gauge, 'tenon_chat_waiting_calls', 'Chat calls that wait for their turn.', 'waiting'],
  [gauge, 'tenon_chat_running_calls', 'Chat calls that are being answered, as one batch.', 'running'],
  [counter, 'tenon_chat_prompt_tokens_total', 'Tokens of the prompts that were answered.', 'promptTokens'],
  [counter, 'tenon_chat_cached_tokens_total', 'Tokens of prompts that were in the prefix cache.', 'cachedTokens'],
  [counter, 'tenon_chat_completion_tokens_total', 'Tokens of the answers.', 'completionTokens'],
  [
    counter,
    'tenon_chat_worked_seconds_total',
    'Sum of the times of all answers. The tokens of answers, divided by this sum, are the speed that one caller sees.',
    'workedSeconds',
  ],
] as const;

const TIMES = [
  ['tenon_chat_first_token_seconds', 'Time from a call to the first token of its answer.', 'firstToken'],
  ['tenon_chat_between_tokens_seconds', 'Time from one token of an answer to the next.', 'betweenTokens'],
  ['tenon_chat_answer_seconds', 'Time from a call to its answer.', 'answer'],
] as const;

const samplesOf = (shown: Figures, field: (typeof NUMBERS)[number][3]): Sample[] =>
  shown.map(([id, figures]) => ({ labels: RuntimeId.parts(id), value: figures[field] }));

const spreads = (shown: Figures, name: string, field: (typeof TIMES)[number][2]): Sample[] =>
  shown.flatMap(([id, figures]) => {
    const labels = RuntimeId.parts(id);
    const { within, count, sum } = figures[field];
    return [
      ...[...within, { seconds: '+Inf', count }].map((bucket) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le: String(bucket.seconds) },
        value: bucket.count,
      })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
