import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { InstanceName, id, idText, namedObject } from '../schemas.js';

const api = contractsOf('Runtime');
const path = '/v1/projects/{project_id}/runtime';

export const RuntimeAnswer = namedObject('Runtime', {
  state: z.enum(['not_connected', 'stopped', 'loading', 'ready', 'unavailable']).meta({ example: 'ready' }),
  model_id: id('mdl').nullable(),
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

export const connectRuntime = api.put(path, {
  id: 'connectRuntime',
  summary: 'Connect a registered model',
  description:
    'Makes the model the runtime of the project. The runtime is stopped at first. Connecting the same model again changes ' +
    'nothing.',
  access: permissions.editWorkspace,
  body: namedObject('RuntimeConnection', { model_id: idText('mdl').describe('A registered model of the project.') }),
  answer: InstanceRuntime,
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
  description: 'Answers when the worker process has ended. The model stays connected.',
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
    id: id('prj'),
    deleted: z.literal(true),
  }),
});
