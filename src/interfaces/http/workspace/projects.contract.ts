import { z } from 'zod';
import { permissions } from '../../../domain/access/permission.js';
import { RuntimeAnswer } from '../chat/runtime.contract.js';
import { contract } from '../contract.js';
import { AnyObject, Timestamp, text, Version } from '../schemas.js';
import { ModelAnswer } from './models.contract.js';

const tag = 'Project workspace';

const Spec = AnyObject.meta({
  description:
    'Any JSON object. Known fields: `goal`, `task`, `system_prompt`, `dataset_id` (strings) and ' +
    '`acceptance: { metric, threshold }`; all others are kept as they are.',
  example: { goal: 'Answer questions about capitals', task: 'chat', acceptance: { metric: 'exact', threshold: 0.9 } },
});

const ProjectAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    status: z.enum(['draft', 'reviewed']),
    version: z.int(),
    spec: AnyObject,
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    reviewed_version: z.int().nullable(),
    models: z.array(ModelAnswer).meta({ description: 'The registered models, newest first' }),
    runtime: RuntimeAnswer,
  })
  .meta({ id: 'Project' });

export const createProject = contract({
  id: 'createProject',
  method: 'post',
  path: '/v1/projects',
  tag,
  summary: 'Create a project',
  access: permissions.editWorkspace,
  body: z
    .object({ name: text().optional().meta({ example: 'Capitals' }), spec: Spec.optional() })
    .meta({ id: 'ProjectCreation' }),
  bodyOptional: true,
  bodyLimit: 'spec',
  versioned: true,
  status: 201,
  answer: ProjectAnswer,
  refusals: [],
});

export const readProject = contract({
  id: 'readProject',
  method: 'get',
  path: '/v1/projects/{project_id}',
  tag,
  summary: 'Read a project',
  access: permissions.readWorkspace,
  versioned: true,
  status: 200,
  answer: ProjectAnswer,
  refusals: [],
});

export const updateProject = contract({
  id: 'updateProject',
  method: 'put',
  path: '/v1/projects/{project_id}',
  tag,
  summary: 'Update a project',
  access: permissions.editWorkspace,
  body: z.object({ version: Version, name: text().optional(), spec: Spec }).meta({ id: 'ProjectUpdate' }),
  bodyLimit: 'spec',
  versioned: true,
  status: 200,
  answer: ProjectAnswer,
  refusals: ['stale_version'],
});
