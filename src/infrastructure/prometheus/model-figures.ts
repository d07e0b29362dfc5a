import type { ChatRuntime } from '../../application/chat/ports.js';
import type { ModelServer } from '../../application/deployments/ports.js';
import type { RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures, Spread } from '../../domain/chat/runtime-figures.js';
import { deploymentStatuses } from '../../domain/deployments/deployment.js';
import { counter, gauge, histogram, type Sample, type Source } from './figures.js';

/** Of the deployments that this process runs, each asked for its proof. */
export const deploymentFigures = (servers: Pick<ModelServer, 'ids' | 'probe'>): Source => ({
  ask: async () => {
    const states = await Promise.all(servers.ids().map((id) => servers.probe(id)));
    const values = deploymentStatuses.map((status) => ({
      labels: { status },
      value: states.filter((state) => state.status === status).length,
    }));
    return [gauge('tenon_deployments', 'Deployments of this process, by their status at this moment.', values)];
  },
});

const runtimeStates = ['loading', 'ready', 'unavailable', 'stopped'] as const satisfies RuntimeStatus['state'][];

/** A label for more would make more series than anybody looks at. */
const MOST_PROJECTS = 200;

type Figures = readonly [project: string, RuntimeFigures][];

/** Of the runtimes that this process runs. Those of the newest projects are told one by one. */
export const chatFigures = (runtimes: Pick<ChatRuntime, 'figures' | 'status'>): Source => ({
  ask: () => {
    const all = [...runtimes.figures()];
    const states = all.map(([project]) => runtimes.status(project).state);
    const counts = runtimeStates.map((state) => ({
      labels: { state },
      value: states.filter((one) => one === state).length,
    }));
    const told = all.sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, MOST_PROJECTS);
    return [
      gauge('tenon_chat_runtimes', 'Chat runtimes of this process, by state.', counts),
      ...loadFigures(told),
      ...tokenFigures(told),
      timeFigure(
        'tenon_chat_first_token_seconds',
        'Time from a call to the first token of its answer.',
        told.map(([project, { firstToken }]) => [project, firstToken]),
      ),
      timeFigure(
        'tenon_chat_answer_seconds',
        'Time from a call to its answer.',
        told.map(([project, { answer }]) => [project, answer]),
      ),
    ];
  },
});

const loadFigures = (told: Figures) => [
  gauge('tenon_chat_waiting_calls', 'Chat calls that wait for their turn.', each(told, 'waiting')),
  gauge('tenon_chat_running_calls', 'Chat calls that are worked on, together as a batch.', each(told, 'running')),
];

const tokenFigures = (told: Figures) => [
  counter('tenon_chat_prompt_tokens_total', 'Tokens of the prompts that were answered.', each(told, 'promptTokens')),
  counter('tenon_chat_cached_tokens_total', 'Those of them that the runtime still knew.', each(told, 'cachedTokens')),
  counter('tenon_chat_completion_tokens_total', 'Tokens of the answers.', each(told, 'completionTokens')),
  counter(
    'tenon_chat_worked_seconds_total',
    'Time that answers were worked on, each for itself: the tokens of answers by it are the speed that a caller sees.',
    each(told, 'workedSeconds'),
  ),
];

type Plain = { [K in keyof RuntimeFigures]: RuntimeFigures[K] extends number ? K : never }[keyof RuntimeFigures];

const each = (told: Figures, name: Plain): Sample[] =>
  told.map(([project, figures]) => ({ labels: { project }, value: figures[name] }));

const timeFigure = (name: string, help: string, told: readonly [project: string, Spread][]) =>
  histogram(
    name,
    help,
    told.flatMap(([project, { within, count, sum }]) => [
      ...[...within, { seconds: '+Inf', count }].map((one) => ({
        metricName: `${name}_bucket`,
        labels: { project, le: String(one.seconds) },
        value: one.count,
      })),
      { metricName: `${name}_sum`, labels: { project }, value: sum },
      { metricName: `${name}_count`, labels: { project }, value: count },
    ]),
  );
