import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { deploymentLimits, deploymentStatuses } from '../../../domain/deployments/deployment.js';
import { contractsOf } from '../contract.js';
import { Count, listOf } from '../paging.js';
import {
  Deleted,
  InstanceName,
  id,
  intLike,
  namedObject,
  nameText,
  Tail,
  Timestamp,
  text,
  textLike,
  wholeNumber,
} from '../schemas.js';

const api = contractsOf('Monitoring');
const path = '/v1/deployments';
const one = `${path}/{deployment_id}` as const;
const { nameLength, modelPathLength, maxBatch, maxDelayMs } = deploymentLimits;

export const DeploymentAnswer = namedObject('Deployment', {
  id: id('dep'),
  name: textLike('iris'),
  model_path: textLike('iris.onnx', 'The path as it was sent.'),
  port: intLike(41873, 'The port of the serving process, or of the last one if there is none now.'),
  url: textLike('http://127.0.0.1:41873', 'The address of the serving process on the machine of the service.'),
  status: z
    .enum(deploymentStatuses)
    .describe(
      'Probed for this answer, never stored. `running`: the process has just proved its health. `starting`: it loads ' +
        'the model. `unhealthy`: it is alive, but does not answer. `crash_looping`: it has failed several times and waits ' +
        'for its next start. `stopped`: there is no process, because the instance runs as many as it may.',
    ),
  created_at: Timestamp,
  reason: z.string().nullable().describe('Why it is not running, else null.'),
  restarts: intLike(0, 'The number of restarts since the service started.'),
  instance: InstanceName,
  max_batch: z.int().nullable().describe('The largest batch. Null: requests are not batched.'),
  max_delay_ms: z.int().nullable().describe('Milliseconds. Null without `max_batch`.'),
});

/** Repeats the domain's rule in JSON Schema: a delay needs a batch. */
const delayNeedsBatch = {
  anyOf: [
    { properties: { max_delay_ms: { type: 'null' as const } } },
    { required: ['max_batch'], properties: { max_batch: { type: 'integer' as const } } },
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
  summary: 'Deploy a model file',
  description:
    'Starts a process that serves one ONNX file, and answers when it has proved its health. A file that is missing or ' +
    'does not load is refused with the reason of the loader, and nothing is stored. The process is restarted when it ' +
    'dies, and started again with the service. An instance that runs `SERVICE_MAX_CHILDREN` model processes refuses ' +
    'with 503 `runtime_unavailable`.',
  access: permissions.manageMonitoring,
  body: z
    .object({
      name: nameText(nameLength, 'iris'),
      model_path: text().meta({
        minLength: 1,
        maxLength: modelPathLength,
        description: 'An `.onnx` file in a models folder, as a relative or an absolute path.',
        example: 'iris.onnx',
      }),
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
    })
    .meta({ id: 'NewDeployment', ...delayNeedsBatch }),
  status: 201,
  answer: DeploymentAnswer,
  refusals: ['model_file_invalid', 'runtime_unavailable'],
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
  description: 'Answers when its process has ended, by force if necessary.',
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
