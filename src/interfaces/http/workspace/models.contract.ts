import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { NamedPage, NumberPage, pageOfList } from '../paging.js';
import {
  AccountId,
  AnyObject,
  anyOf,
  Deleted,
  id,
  namedObject,
  Timestamp,
  text,
  Version,
  VersionNumber,
  versionFields,
} from '../schemas.js';

const api = contractsOf('Project workspace');

const Spec = AnyObject.meta({
  description: 'Any JSON object of at most 256 KB.',
  example: { runtime: 'onnx', path: 'tiny-chat' },
});

export const ModelAnswer = namedObject('Model', {
  id: id('mdl'),
  project_id: id('prj'),
  version: VersionNumber,
  state: z.enum(['draft', 'registered']),
  spec: Spec,
  forked_from: z
    .object({ model_id: id('mdl'), version: VersionNumber })
    .nullable()
    .meta({ example: null }),
  created_by: AccountId,
  created_at: Timestamp,
  updated_at: Timestamp,
  registered_at: Timestamp.nullable().meta({ description: 'Null while the model is a draft.', example: null }),
});

const RequestId = text().meta({
  format: 'uuid',
  description: 'A UUID of your own.',
  example: '6f1c0a52-3c1e-4a57-9d0e-0f8f2f1f7a11',
});

const known = { status: 200, when: 'The model that an earlier call with this `request_id` made.' } as const;

export const createModel = api.post('/v1/projects/{project_id}/models', {
  id: 'createModel',
  summary: 'Create a draft model',
  description:
    'Safe to repeat: the same `request_id` with the same spec answers the same model. A model that answers chats names ' +
    '`runtime: "onnx"` and `path`, its folder below the models folders. `prices` has the prices of its calls in ' +
    '`SERVICE_CURRENCY`: `input` and `output`, and perhaps `cached_input`, for a million tokens, and perhaps `per_call`. ' +
    'They are checked when the model is registered.',
  access: permissions.editWorkspace,
  body: namedObject('ModelCreation', { request_id: RequestId, spec: Spec }),
  bodyLimit: 'spec',
  exactNumbers: true,
  versioned: true,
  status: 201,
  otherStatus: known,
  answer: ModelAnswer,
  refusals: ['quota_exceeded', 'request_id_conflict'],
});

export const listModels = api.get('/v1/projects/{project_id}/models', {
  id: 'listModels',
  summary: 'List the models of a project, newest first',
  access: permissions.readWorkspace,
  query: NamedPage.extend({
    q: NamedPage.shape.q.describe(
      'Only models with this text in the `name`, `model` or `path` of their spec, in upper or lower case.',
    ),
  }),
  answer: pageOfList('models', ModelAnswer, 'Models'),
  refusals: ['busy'],
});

export const readModel = api.get('/v1/projects/{project_id}/models/{model_id}', {
  id: 'readModel',
  summary: 'Read a model',
  access: permissions.readWorkspace,
  versioned: true,
  answer: ModelAnswer,
});

export const updateModel = api.put('/v1/projects/{project_id}/models/{model_id}', {
  id: 'updateModel',
  summary: 'Update a draft model',
  access: permissions.editWorkspace,
  body: z.object({ version: Version, spec: Spec }).meta({ id: 'ModelUpdate', required: ['version', 'spec'] }),
  bodyLimit: 'spec',
  exactNumbers: true,
  versioned: true,
  answer: ModelAnswer,
  refusals: ['quota_exceeded', 'stale_version', 'model_registered'],
});

export const deleteModel = api.delete('/v1/projects/{project_id}/models/{model_id}', {
  id: 'deleteModel',
  summary: 'Delete a draft model',
  description:
    'Deletes all its versions. Its `request_id` can be used again. A registered model can be deleted only with its project.',
  access: permissions.editWorkspace,
  answer: Deleted,
  refusals: ['stale_version', 'model_registered'],
});

export const registerModel = api.post('/v1/projects/{project_id}/models/{model_id}/register', {
  id: 'registerModel',
  summary: 'Register a model',
  description:
    'Makes the model immutable, so that it can be connected as a runtime. The spec of an ONNX model must have a `path`.',
  access: permissions.editWorkspace,
  body: z.object({ version: Version, expected_version: Version.describe('The same as `version`.') }).meta({
    id: 'ModelRegistration',
    anyOf: anyOf('version', 'expected_version'),
    example: { version: 1 },
  }),
  bodyOptional: true,
  versioned: true,
  answer: ModelAnswer,
  refusals: ['stale_version', 'model_registered'],
});

export const forkModel = api.post('/v1/projects/{project_id}/models/{model_id}/fork', {
  id: 'forkModel',
  summary: 'Fork a model into a draft',
  description:
    'Makes a draft with the current spec of the model. This is how a registered model gets a successor. ' +
    'Safe to repeat with the same `request_id`. Without one, each call makes another draft.',
  access: permissions.editWorkspace,
  body: namedObject('ModelFork', { request_id: RequestId.optional() }),
  bodyOptional: true,
  versioned: true,
  status: 201,
  otherStatus: known,
  answer: ModelAnswer,
  refusals: ['quota_exceeded', 'request_id_conflict'],
});

const ModelVersionEntry = z.object(versionFields);

export const listModelVersions = api.get('/v1/projects/{project_id}/models/{model_id}/versions', {
  id: 'listModelVersions',
  summary: 'List the versions of a model, newest first',
  access: permissions.readWorkspace,
  query: NumberPage,
  answer: pageOfList('versions', ModelVersionEntry, 'ModelVersions'),
});

export const readModelVersion = api.get('/v1/projects/{project_id}/models/{model_id}/versions/{version}', {
  id: 'readModelVersion',
  summary: 'Read a version of a model',
  access: permissions.readWorkspace,
  answer: ModelVersionEntry.extend({
    id: id('mdl').describe('The id of the model.'),
    project_id: id('prj'),
    spec: AnyObject.meta({ example: { runtime: 'onnx', path: 'tiny-chat' } }),
  }).meta({ id: 'ModelVersion' }),
});
