import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { targetLimits } from '../../../domain/chat/target.js';
import { contractsOf } from '../contract.js';
import { InstanceName, id, idText, intLike, namedObject, number } from '../schemas.js';

const api = contractsOf('Runtime');
const path = '/v1/projects/{project_id}/runtime';

const Share = namedObject('WeightedModel', {
  model_id: id('mdl'),
  weight: z.number().meta({ example: 9 }),
});

export const TargetState = z.enum(['stopped', 'loading', 'ready', 'unavailable']).meta({ example: 'ready' });

const Target = namedObject('RuntimeTarget', {
  model_id: id('mdl'),
  share: z
    .number()
    .meta({ description: 'The part of the calls that try this model first, from 0 to 1.', example: 0.9 }),
  state: TargetState,
  reason: z.string().nullable().meta({ description: 'Why the model is unavailable, else null.', example: null }),
  breaker: z.enum(['closed', 'open', 'half_open']).meta({
    description:
      '`closed`: calls may try the model. `open`: it has failed and gets no calls. `half_open`: one call probes it.',
    example: 'closed',
  }),
  retry_after: intLike(2, 'Seconds until an open breaker lets a call through. Null: it does so now.')
    .nullable()
    .meta({ example: null }),
});

export const RuntimeAnswer = namedObject('Runtime', {
  state: z.enum(['not_connected', 'stopped', 'loading', 'ready', 'unavailable']).meta({
    description: 'With several models: `ready` if one of them is ready.',
    example: 'ready',
  }),
  model_id: id('mdl').nullable(),
  fallbacks: z
    .array(id('mdl'))
    .meta({ description: 'The models that a call tries after `model_id`, in this order.', example: [] }),
  split: z
    .array(Share)
    .nullable()
    .meta({ description: 'The models among which each call draws the one that it tries first.', example: null }),
  targets: z.array(Target).describe('All models with their states on the instance that answers.'),
  reason: z.string().nullable().meta({ description: 'Why the runtime is unavailable, else null.', example: null }),
  task: z
    .enum(['chat', 'embedding'])
    .nullable()
    .meta({
      description:
        'Whether the model chats or makes embeddings. Null until the model has loaded on this instance, and for an engine ' +
        'elsewhere if the spec does not name the task.',
      example: 'chat',
    }),
});

/** Adds the name of the instance that answered: on another instance, the runtime may be in another state. */
const InstanceRuntime = RuntimeAnswer.extend({ instance: InstanceName }).meta({ id: 'InstanceRuntime' });

/** Status 409, not 503 as for a chat: a start or stop without a model conflicts with the state of the project. */
const notConnected = { code: 'runtime_not_connected', status: 409 } as const;

export const readRuntime = api.get(path, {
  id: 'readRuntime',
  summary: 'Read the state of the runtime',
  access: permissions.readWorkspace,
  answer: InstanceRuntime,
});

const modelId = () => idText('mdl');
const { targets: most, weight: heaviest } = targetLimits;

const RuntimeConnection = namedObject('RuntimeConnection', {
  model_id: modelId().nullish().describe('A registered model of the project. With `split` it may be left out.'),
  fallbacks: z
    .array(modelId(), { error: 'must be an array of model ids' })
    .nullish()
    .describe(`Registered models of the project that a call tries next. At most ${most - 1}.`),
  split: z
    .array(
      z.object({
        model_id: modelId(),
        weight: number().describe(`Above 0, and at most ${heaviest}.`).meta({ example: 9 }),
      }),
      { error: 'must be an array of objects with model_id and weight' },
    )
    .min(1, { error: 'must have at least one model' })
    .nullish()
    .describe(`Registered models of the project, at most ${most}. A call draws the first one by weight.`),
});

export const connectRuntime = api.put(path, {
  id: 'connectRuntime',
  summary: 'Connect registered models',
  description:
    'Makes the models the runtime of the project. A call tries `model_id` first, or a model that it draws from `split`. If ' +
    'this model refuses the connection, breaks before its first content, or answers 429, 5xx or nothing in its share of the ' +
    'time, the call tries the next one. A runtime with another `model_id` is stopped at first. If only the other models or ' +
    'their weights change, a started runtime goes on. The same request again changes nothing.',
  access: permissions.editWorkspace,
  body: RuntimeConnection,
  answer: InstanceRuntime,
  refusals: ['runtime_unavailable'],
});

export const startRuntime = api.post(`${path}/start`, {
  id: 'startRuntime',
  summary: 'Start the runtime',
  description:
    'Answers while the model loads. Read the runtime until it is `ready`. A started runtime starts again when the ' +
    'service starts. An instance that runs `SERVICE_MAX_CHILDREN` model processes refuses with 503 `runtime_unavailable`.',
  access: permissions.editWorkspace,
  answer: InstanceRuntime,
  refusals: [notConnected, 'invalid_request', 'runtime_unavailable'],
});

export const stopRuntime = api.post(`${path}/stop`, {
  id: 'stopRuntime',
  summary: 'Stop the runtime',
  description: 'Answers when the worker processes have ended. The models stay connected.',
  access: permissions.editWorkspace,
  answer: InstanceRuntime,
  refusals: [notConnected],
});

export const disconnectRuntime = api.delete(path, {
  id: 'disconnectRuntime',
  summary: 'Disconnect the model',
  description: 'Stops the runtime first. `id` in the answer is the project id.',
  access: permissions.editWorkspace,
  answer: namedObject('RuntimeDisconnected', {
    ...InstanceRuntime.shape,
    state: RuntimeAnswer.shape.state.meta({ example: 'not_connected' }),
    model_id: RuntimeAnswer.shape.model_id.meta({ example: null }),
    task: RuntimeAnswer.shape.task.meta({ example: null }),
    targets: RuntimeAnswer.shape.targets.meta({ example: [] }),
    id: id('prj'),
    deleted: z.literal(true),
  }),
});
