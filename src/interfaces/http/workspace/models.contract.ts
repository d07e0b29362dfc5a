import { z } from 'zod';
import { permissions } from '../../../domain/access/permission.js';
import { contract } from '../contract.js';
import { AnyObject, Timestamp, text, Version } from '../schemas.js';

const tag = 'Project workspace';

export const ModelAnswer = z
  .object({
    id: z.string(),
    project_id: z.string(),
    version: z.int(),
    state: z.enum(['draft', 'registered']),
    spec: AnyObject,
    created_at: Timestamp,
    updated_at: Timestamp,
    registered_at: Timestamp.nullable(),
  })
  .meta({ id: 'Model' });

export const createModel = contract({
  id: 'createModel',
  method: 'post',
  path: '/v1/projects/{project_id}/models',
  tag,
  summary: 'Create a draft model',
  description:
    'Safe to repeat: the same request_id with the same spec answers the same model, and at most one is ever made. ' +
    'A spec may hold anything; a model that is to answer chats names `runtime: "onnx"` and `path`, ' +
    'its folder below the models folders.',
  access: permissions.editWorkspace,
  body: z
    .object({
      request_id: text().meta({ description: 'A UUID of your own', example: '6f1c0a52-3c1e-4a57-9d0e-0f8f2f1f7a11' }),
      spec: AnyObject.meta({ example: { runtime: 'onnx', path: 'tiny-chat' } }),
    })
    .meta({ id: 'ModelCreation' }),
  bodyLimit: 'spec',
  versioned: true,
  status: 201,
  otherStatus: { status: 200, when: 'The model that an earlier call with this request_id made.' },
  answer: ModelAnswer,
  refusals: ['request_id_conflict'],
});

export const readModel = contract({
  id: 'readModel',
  method: 'get',
  path: '/v1/projects/{project_id}/models/{model_id}',
  tag,
  summary: 'Read a model',
  access: permissions.readWorkspace,
  versioned: true,
  status: 200,
  answer: ModelAnswer,
  refusals: [],
});

export const registerModel = contract({
  id: 'registerModel',
  method: 'post',
  path: '/v1/projects/{project_id}/models/{model_id}/register',
  tag,
  summary: 'Register a model',
  description: 'Makes this version of the model immutable, so that it can be connected as a runtime.',
  access: permissions.editWorkspace,
  body: z
    .object({ version: Version, expected_version: Version.meta({ description: 'The same as `version`.' }) })
    .meta({ id: 'ModelRegistration', example: { version: 1 } }),
  bodyOptional: true,
  versioned: true,
  status: 200,
  answer: ModelAnswer,
  refusals: ['stale_version', 'model_registered'],
});
