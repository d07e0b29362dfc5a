import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { deploymentKinds, deploymentLimits, deploymentStatuses } from '../../../domain/deployments/deployment.js';
import { priceLimits } from '../../../domain/spend/prices.js';
import { contractsOf } from '../contract.js';
import { Count, listOf } from '../paging.js';
import {
  Deleted,
  InstanceName,
  id,
  intLike,
  namedObject,
  nameText,
  number,
  Tail,
  Timestamp,
  text,
  textLike,
  wanted,
  wholeNumber,
} from '../schemas.js';

const api = contractsOf('Monitoring');
const path = '/v1/deployments';
const one = `${path}/{deployment_id}` as const;
const { nameLength, modelPathLength, endpointLength, modelNameLength, maxBatch, maxDelayMs } = deploymentLimits;

export const DeploymentAnswer = namedObject('Deployment', {
  id: id('dep'),
  name: textLike('iris'),
  kind: z
    .enum(deploymentKinds)
    .describe('`local`: a file that a process of the service serves. `remote`: a model on an engine elsewhere.'),
  model_path: textLike('iris.onnx', 'The path as it was sent. Null for a remote deployment.').nullable(),
  port: intLike(41873, 'The port of the serving process, or of the last one if there is none now, or of the endpoint.'),
  url: textLike(
    'http://127.0.0.1:41873',
    'The address of the serving process on the machine of the service, or the endpoint.',
  ),
  status: z
    .enum(deploymentStatuses)
    .describe(
      'Probed for this answer, never stored. `running`: the process has just proved its health, or the engine says that ' +
        'the model is ready. A remote deployment is `unhealthy` otherwise. `starting`: the process loads ' +
        'the model. `unhealthy`: it is alive, but does not answer. `crash_looping`: a start or several runs in a row ' +
        'have failed, and it waits for its next start. `stopped`: there is no process, because the instance runs as ' +
        'many as it may.',
    ),
  created_at: Timestamp,
  reason: z.string().nullable().describe('Why it is not running, else null.'),
  restarts: intLike(0, 'The number of restarts since the service started.'),
  instance: InstanceName,
  max_batch: z.int().nullable().describe('The largest batch. Null: requests are not batched.'),
  max_delay_ms: z.int().nullable().describe('Milliseconds. Null without `max_batch`.'),
  endpoint: textLike('http://gpu.internal:8000', 'The address of the engine. Null for a local deployment.').nullable(),
  model_name: textLike('iris', 'The name of the model at the engine. Null for a local deployment.').nullable(),
  model_version: textLike('1', 'Null if the engine chooses.').nullable(),
  key_setting: textLike('SERVICE_RUNTIME_KEY_GPU', 'The setting that holds the key of the engine.').nullable(),
  prices: namedObject('DeploymentPrices', {
    per_call: z.number().nullable().meta({ example: 0.002 }),
    per_second: z.number().nullable().meta({ example: null }),
  })
    .nullable()
    .describe('The prices of a prediction in `SERVICE_CURRENCY`. Null: it has no price.'),
});

const price = (description: string) =>
  number()
    .nullish()
    .meta({ minimum: 0, maximum: priceLimits.most, description: `${description} At most nine decimal places.` });

const engineName = (description: string) =>
  text().meta({ minLength: 1, maxLength: modelNameLength, description }).nullish();

const string = { type: 'string' as const };
const absent = { type: 'null' as const };

/** Describes rules of the domain in JSON Schema: files and endpoints have their own fields, a delay needs a batch. */
const eitherKind = {
  oneOf: [
    {
      additionalProperties: true,
      required: ['model_path'],
      properties: {
        model_path: string,
        endpoint: absent,
        model_name: absent,
        model_version: absent,
        key_setting: absent,
      },
      anyOf: [
        { additionalProperties: true, properties: { max_delay_ms: absent } },
        {
          additionalProperties: true,
          required: ['max_batch'],
          properties: { max_batch: { type: 'integer' as const } },
        },
      ],
    },
    {
      additionalProperties: true,
      required: ['endpoint', 'model_name'],
      properties: { endpoint: string, model_name: string, model_path: absent, max_batch: absent, max_delay_ms: absent },
    },
  ],
};

export const listDeployments = api.get(path, {
  id: 'listDeployments',
  summary: 'List the deployments',
  description: 'Newest first. All are probed at the same time, for at most a second.',
  access: permissions.readMonitoring,
  answer: listOf('deployments', DeploymentAnswer, 'Deployments'),
});

export const createDeployment = api.post(path, {
  id: 'createDeployment',
  summary: 'Deploy a model file, or a model of an engine elsewhere',
  description:
    'With `model_path`: starts a process that serves one ONNX file, and answers when it has proved its health. A file ' +
    'that is missing or does not load is refused with the reason of the loader, and nothing is stored. The process is ' +
    'restarted when it dies, and started again with the service. An instance that runs `SERVICE_MAX_CHILDREN` model ' +
    'processes refuses with 503 `runtime_unavailable`.\n\n' +
    'With `endpoint`: answers when an engine that speaks the Open Inference Protocol, such as Triton, KServe, OpenVINO ' +
    'Model Server or MLServer, says that the model is ready. The service first asks an engine that ' +
    'manages models to load it. Refuses with `endpoint_invalid` if the model is not ready within ' +
    '`SERVICE_DEPLOYMENT_START_TIMEOUT_S`.',
  access: permissions.manageMonitoring,
  body: z
    .object({
      name: nameText(nameLength, 'iris'),
      model_path: text()
        .meta({
          minLength: 1,
          maxLength: modelPathLength,
          description: 'An `.onnx` file in a models folder, as a relative or an absolute path.',
          example: 'iris.onnx',
        })
        .nullish(),
      endpoint: text()
        .meta({
          minLength: 1,
          maxLength: endpointLength,
          description:
            'The base URL of an engine, in place of `model_path`. Its host must be on `SERVICE_RUNTIME_ALLOWED_HOSTS`. ' +
            'Redirects are not followed.',
          pattern: '^https?://[^\\s/@#?]+(/[^\\s#?]*)?$',
          example: 'http://gpu.internal:8000',
        })
        .nullish(),
      model_name: engineName('The name of the model at the engine. Needs `endpoint`.'),
      model_version: engineName(
        'The version of the model at the engine, which chooses one by default. Needs `endpoint`.',
      ),
      key_setting: text()
        .meta({
          description: 'The `SERVICE_RUNTIME_KEY_*` setting that holds the key of the engine. Needs `endpoint`.',
          pattern: '^SERVICE_RUNTIME_KEY_\\w+$',
          example: 'SERVICE_RUNTIME_KEY_GPU',
        })
        .nullish(),
      max_batch: wholeNumber(maxBatch.min, maxBatch.max)
        .nullish()
        .describe(
          `The largest number of waiting requests that are answered as one batch, ${maxBatch.min} to ${maxBatch.max}. For models that take batches.`,
        ),
      max_delay_ms: wholeNumber(maxDelayMs.min, maxDelayMs.max)
        .nullish()
        .describe(
          `The milliseconds that a request waits for others, ${maxDelayMs.min} to ${maxDelayMs.max}. Needs \`max_batch\`. The default is 5.`,
        ),
      prices: z
        .object(
          {
            per_call: price('The price of a prediction.'),
            per_second: price('The price of a second from the start of the prediction to its end.'),
          },
          { error: wanted('an object with per_call or per_second') },
        )
        .nullish()
        .meta({ id: 'NewDeploymentPrices', example: { per_call: 0.002 } }),
    })
    .meta({ id: 'NewDeployment', ...eitherKind, example: { name: 'iris', model_path: 'iris.onnx' } }),
  status: 201,
  answer: DeploymentAnswer,
  refusals: ['model_file_invalid', 'endpoint_invalid', 'runtime_unavailable'],
});

export const readDeployment = api.get(one, {
  id: 'readDeployment',
  summary: 'Read a deployment',
  access: permissions.readMonitoring,
  answer: DeploymentAnswer,
});

export const deleteDeployment = api.delete(one, {
  id: 'deleteDeployment',
  summary: 'Delete a deployment',
  description:
    'Answers when its process has ended, by force if necessary. An engine elsewhere that manages models is told to unload the ' +
    'model, unless another deployment uses it.',
  access: permissions.manageMonitoring,
  answer: Deleted,
});

export const readDeploymentLogs = api.get(`${one}/logs`, {
  id: 'readDeploymentLogs',
  summary: 'Read the output of a deployment',
  description:
    'The latest lines of its processes since the service started, oldest first, at most 10000. The log of the service ' +
    'has all lines.',
  access: permissions.readMonitoring,
  query: z.object({ tail: Tail }),
  answer: z.object({ lines: z.array(textLike('loaded iris.onnx')), count: Count }).meta({ id: 'DeploymentLogs' }),
});
