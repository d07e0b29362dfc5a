import { z } from 'zod';
import type { ByteStream } from '../../../application/shared/ports.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { namedObject, textLike } from '../schemas.js';

const api = contractsOf('Monitoring');
const one = '/v1/deployments/{deployment_id}';
const protocol = `${one}/v2` as const;
const model = `${protocol}/models/{model_name}` as const;
const version = `${model}/versions/{model_version}` as const;

const isStream = (value: unknown): value is ByteStream => typeof value === 'object' && value !== null;

const tensorFields = {
  data: {},
  shape: { type: 'array', items: { type: 'integer' } },
  datatype: { type: 'string' },
} as const;

const tensor = {
  oneOf: [
    { type: 'array', items: {}, description: 'Nested arrays.' },
    { type: 'object', properties: tensorFields },
  ],
} as const;

const protocolTensors = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, ...tensorFields },
    required: ['name', 'data', 'shape', 'datatype'],
  },
  description: 'The tensors of the Open Inference Protocol.',
} as const;

const failures = [
  'runtime_invalid_response',
  'runtime_loading',
  'runtime_stopped',
  'runtime_unavailable',
  'inference_timeout',
] as const;

const OutputTensor = z.object({ data: z.unknown(), shape: z.array(z.int()), datatype: z.string() });
const NamedOutput = OutputTensor.extend({ name: z.string() });

export const predict = api.post(`${one}/predict`, {
  id: 'predict',
  summary: 'Predict with a deployed model',
  description:
    'Forwards the body to `POST /predict` of the serving process, and returns its answer. A body in the form of the ' +
    'Open Inference Protocol, with an array of inputs, is answered in that form, without binary data.',
  access: permissions.predict,
  body: z.custom<ByteStream>(isStream).meta({
    id: 'Prediction',
    type: 'object',
    properties: {
      inputs: {
        oneOf: [
          { type: 'object', additionalProperties: tensor, description: 'The tensors by the names of the inputs.' },
          protocolTensors,
        ],
      },
    },
    required: ['inputs'],
    example: { inputs: { input: [[5.1, 3.5, 1.4, 0.2]] } },
  }),
  bodyLimit: 'prediction',
  streamed: true,
  answer: z
    .looseObject({
      outputs: z.union([z.record(z.string(), OutputTensor), z.array(NamedOutput)]),
    })
    .meta({ id: 'PredictionAnswer', example: { outputs: { label: { data: [0], shape: [1], datatype: 'INT64' } } } }),
  refusals: ['model_busy', 'budget_exceeded', ...failures],
});

const read = { access: permissions.predict, refusals: failures } as const;

export const readServerMetadata = api.get(protocol, {
  ...read,
  id: 'readServerMetadata',
  summary: 'Read about the server of a deployed model',
  description:
    'Paths below `/v2` are the Open Inference Protocol. Its clients take the URL of the deployment as the URL of a ' +
    'server. Each deployment has one model, which has the name of the deployment.',
  answer: z
    .looseObject({ name: z.string(), version: z.string(), extensions: z.array(z.string()) })
    .meta({ id: 'ServerMetadata', example: { name: 'tenon', version: '1', extensions: ['binary_tensor_data'] } }),
});

export const readServerLive = api.get(`${protocol}/health/live`, {
  ...read,
  id: 'readServerLive',
  summary: 'Ask whether the server of a deployed model runs',
  answer: namedObject('ServerLive', { live: z.boolean() }),
});

export const readServerReady = api.get(`${protocol}/health/ready`, {
  ...read,
  id: 'readServerReady',
  summary: 'Ask whether the server of a deployed model takes requests',
  answer: namedObject('ServerReady', { ready: z.boolean() }),
});

const TensorMetadata = z.looseObject({ name: z.string(), datatype: z.string(), shape: z.array(z.int()) });
const ModelMetadata = z
  .looseObject({
    name: z.string(),
    versions: z.array(z.string()).optional(),
    platform: z.string(),
    inputs: z.array(TensorMetadata),
    outputs: z.array(TensorMetadata),
  })
  .meta({
    id: 'ModelMetadata',
    example: {
      name: 'iris',
      versions: ['1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 4] }],
      outputs: [{ name: 'label', datatype: 'INT64', shape: [-1] }],
    },
  });

const metadata = { ...read, summary: 'Read about a deployed model', answer: ModelMetadata } as const;
export const readModelMetadata = api.get(model, { ...metadata, id: 'readModelMetadata' });
export const readModelVersionMetadata = api.get(version, { ...metadata, id: 'readModelVersionMetadata' });

const ready = {
  ...read,
  summary: 'Ask whether a deployed model takes requests',
  answer: namedObject('ModelReady', { name: textLike('iris'), ready: z.boolean() }),
} as const;
export const readModelReady = api.get(`${model}/ready`, { ...ready, id: 'readModelReady' });
export const readModelVersionReady = api.get(`${version}/ready`, { ...ready, id: 'readModelVersionReady' });

export const LENGTH_HEADER = 'Inference-Header-Content-Length';

const inference = {
  summary: 'Predict with a deployed model in the Open Inference Protocol',
  description:
    'Takes the binary tensor extension, gzip and deflate. The limit holds for the decompressed body. The media ' +
    `type may be missing. With \`${LENGTH_HEADER}\` binary tensors follow that many bytes of JSON.`,
  access: permissions.predict,
  headers: {
    [LENGTH_HEADER]: z
      .string()
      .regex(/^\d{1,15}$/, { error: 'must be a whole number of bytes' })
      .optional()
      .meta({ description: 'The bytes of JSON, if binary tensors follow them.', example: '112' }),
  },
  body: z.custom<ByteStream>(isStream).meta({
    id: 'InferenceRequest',
    type: 'object',
    properties: { id: { type: 'string' }, inputs: protocolTensors },
    required: ['inputs'],
    example: { inputs: [{ name: 'input', shape: [1, 4], datatype: 'FP32', data: [5.1, 3.5, 1.4, 0.2] }] },
  }),
  bodyLimit: 'prediction',
  streamed: true,
  tensors: true,
  answer: z.looseObject({ model_name: z.string(), outputs: z.array(NamedOutput) }).meta({
    id: 'InferenceAnswer',
    example: {
      model_name: 'iris',
      model_version: '1',
      outputs: [{ name: 'label', datatype: 'INT64', shape: [1], data: [0] }],
    },
  }),
  answerHeaders: { [LENGTH_HEADER]: 'The bytes of JSON, if binary tensors follow them.' },
  refusals: ['model_busy', 'budget_exceeded', ...failures],
} as const;
export const infer = api.post(`${model}/infer`, { ...inference, id: 'infer' });
export const inferWithVersion = api.post(`${version}/infer`, { ...inference, id: 'inferWithVersion' });
