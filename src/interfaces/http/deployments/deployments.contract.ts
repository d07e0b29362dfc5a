import { z } from 'zod';
import type { ByteStream } from '../../../application/shared/byte-stream.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { deploymentLimits, deploymentStatuses } from '../../../domain/deployments/deployment.js';
import { contract } from '../contract.js';
import { Count, clampedNumberText, Deleted, id, listOf, nameText, Timestamp, text, wholeNumber } from '../schemas.js';

const tag = 'Monitoring';
const path = '/v1/deployments';
const one = `${path}/{deployment_id}` as const;
const { nameLength, modelPathLength, maxBatch, maxDelayMs } = deploymentLimits;

export const DeploymentAnswer = z
  .object({
    id: id('dep'),
    name: z.string().meta({ example: 'iris' }),
    model_path: z.string().meta({ description: 'As it was sent', example: 'iris.onnx' }),
    port: z
      .int()
      .meta({ description: 'Of the serving process; where there is none just now, of the one before', example: 41873 }),
    url: z.string().meta({
      description: 'Address of the serving process on the machine of the service',
      example: 'http://127.0.0.1:41873',
    }),
    status: z.enum(deploymentStatuses).meta({
      description:
        'Found out at this moment, never stored. `running`: the process has just proved that it is the one started for ' +
        'this deployment. `starting`: it loads. `unhealthy`: it is there and does not answer. `crash_looping`: it fails ' +
        'again and again, and waits for its next start. `stopped`: there is no process for it.',
    }),
    created_at: Timestamp,
    reason: z.string().nullable().meta({ description: 'Why it does not run, where it does not' }),
    restarts: z
      .int()
      .meta({ description: 'How often its process was started again since the service started', example: 0 }),
    process: z
      .string()
      .nullable()
      .meta({
        description:
          'The process of the service that runs it, by its name. Any other answers for it by asking that one; null: none ' +
          'does just now, and one is about to.',
        example: 'host-1:8080',
      }),
    max_batch: z.int().nullable().meta({ description: 'Null: every request is answered by itself' }),
    max_delay_ms: z.int().nullable().meta({ description: 'Milliseconds; null without `max_batch`' }),
  })
  .meta({ id: 'Deployment' });

/** Repeats the domain's rule in JSON Schema: a delay needs a batch. */
const delayNeedsBatch = {
  anyOf: [
    { properties: { max_delay_ms: { type: 'null' as const } } },
    { required: ['max_batch'], properties: { max_batch: { type: 'integer' as const } } },
  ],
};

export const listDeployments = contract({
  id: 'listDeployments',
  method: 'get',
  path,
  tag,
  summary: 'List the deployments',
  description:
    'Newest first. All are probed at once, for a second at most; those of another process of the service by that one.',
  access: permissions.readMonitoring,
  answer: listOf('deployments', DeploymentAnswer, 'Deployments'),
});

export const createDeployment = contract({
  id: 'createDeployment',
  method: 'post',
  path,
  tag,
  summary: 'Deploy a model file',
  description:
    'Starts a process that serves one ONNX file, and answers when it has proved its health. A file that is not there or ' +
    'does not load is refused with the loader’s reason, and leaves nothing behind. The process is started again when it ' +
    'dies, and with the service.',
  access: permissions.manageMonitoring,
  body: z
    .object({
      name: nameText(nameLength, 'iris'),
      model_path: text().meta({
        minLength: 1,
        maxLength: modelPathLength,
        description: 'An `.onnx` file, relative to a models folder or absolute within one',
        example: 'iris.onnx',
      }),
      max_batch: wholeNumber(maxBatch.min, maxBatch.max)
        .nullish()
        .meta({
          description: `Requests that wait together are answered together, so many at most: ${maxBatch.min} to ${maxBatch.max}. For models that take batches.`,
        }),
      max_delay_ms: wholeNumber(maxDelayMs.min, maxDelayMs.max)
        .nullish()
        .meta({
          description: `How many milliseconds a request waits for others, with \`max_batch\`: ${maxDelayMs.min} to ${maxDelayMs.max}; 5 unless told otherwise.`,
        }),
    })
    .meta({ id: 'NewDeployment', ...delayNeedsBatch }),
  status: 201,
  answer: DeploymentAnswer,
  refusals: ['model_file_invalid', 'runtime_unavailable'],
});

export const readDeployment = contract({
  id: 'readDeployment',
  method: 'get',
  path: one,
  tag,
  summary: 'Read a deployment',
  access: permissions.readMonitoring,
  answer: DeploymentAnswer,
});

export const deleteDeployment = contract({
  id: 'deleteDeployment',
  method: 'delete',
  path: one,
  tag,
  summary: 'Delete a deployment',
  description: 'Answers once its process is gone, which is ended by force where it does not end by itself.',
  access: permissions.manageMonitoring,
  answer: Deleted,
});

const isStream = (value: unknown): value is ByteStream => typeof value === 'object' && value !== null;

const tensor = {
  oneOf: [
    { type: 'array', items: {}, description: 'Nested arrays' },
    {
      type: 'object',
      properties: { data: {}, shape: { type: 'array', items: { type: 'integer' } }, datatype: { type: 'string' } },
    },
  ],
} as const;

export const predict = contract({
  id: 'predict',
  method: 'post',
  path: `${one}/predict`,
  tag,
  summary: 'Ask a deployed model',
  description: 'Passes the body to `POST /predict` of the serving process, and its answer back.',
  access: permissions.readMonitoring,
  body: z.custom<ByteStream>(isStream).meta({
    id: 'Prediction',
    type: 'object',
    properties: { inputs: { type: 'object', additionalProperties: tensor, description: 'By the name of the input' } },
    required: ['inputs'],
    example: { inputs: { input: [[5.1, 3.5, 1.4, 0.2]] } },
  }),
  bodyLimit: 'prediction',
  streamed: true,
  answer: z
    .looseObject({
      outputs: z.record(z.string(), z.object({ data: z.unknown(), shape: z.array(z.int()), datatype: z.string() })),
    })
    .meta({ id: 'PredictionAnswer', example: { outputs: { label: { data: [0], shape: [1], datatype: 'INT64' } } } }),
  refusals: [
    'model_busy',
    'runtime_invalid_response',
    'runtime_loading',
    'runtime_stopped',
    'runtime_unavailable',
    'inference_timeout',
  ],
});

export const readDeploymentLogs = contract({
  id: 'readDeploymentLogs',
  method: 'get',
  path: `${one}/logs`,
  tag,
  summary: 'Read what a deployment wrote',
  description:
    'The latest lines that its processes wrote since the service started, oldest first; at most 10000. The log of the ' +
    'service has all.',
  access: permissions.readMonitoring,
  query: z.object({
    tail: clampedNumberText(1, 10_000)
      .default(200)
      .meta({ description: 'How many lines at most, from 1 on; above 10000 it is 10000', default: 200 }),
  }),
  answer: z
    .object({ lines: z.array(z.string().meta({ example: 'loaded iris.onnx' })), count: Count })
    .meta({ id: 'DeploymentLogs' }),
  refusals: ['invalid_request', 'runtime_unavailable'],
});
