import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { maskKinds, recordingLimits } from '../../../domain/record/recording.js';
import { NAME_LENGTH } from '../../../domain/workspace/project.js';
import { formatLimits } from '../../../domain/workspace/spec-format.js';
import { ConversationAnswer } from '../chat/conversations.contract.js';
import { RuntimeAnswer } from '../chat/runtime.contract.js';
import { contractsOf } from '../contract.js';
import { Count, NamedPage, NextCursor, NumberPage, pageOfList } from '../paging.js';
import {
  AccountId,
  AnyObject,
  Deleted,
  id,
  jsonReference,
  namedObject,
  nameText,
  STORABLE,
  Timestamp,
  textLike,
  Version,
  VersionNumber,
  versionFields,
} from '../schemas.js';
import { ModelAnswer } from './models.contract.js';
import { sameStarter, starterChoice } from './starters.contract.js';

const api = contractsOf('Project workspace');

const SpecText = { type: ['string' as const, 'null' as const], pattern: STORABLE };

const SpecFormat = {
  anyOf: [
    { type: 'null' as const },
    { type: 'object' as const, properties: { type: { enum: ['text', 'json_object'] } }, required: ['type'] },
    {
      type: 'object' as const,
      properties: {
        type: { const: 'json_schema' },
        json_schema: {
          type: 'object' as const,
          properties: {
            name: { type: 'string' as const, pattern: formatLimits.name.source },
            description: SpecText,
            schema: { type: 'object' as const, additionalProperties: jsonReference },
            strict: { type: ['boolean' as const, 'null' as const] },
          },
          required: ['name', 'schema'],
          additionalProperties: true,
        },
      },
      required: ['type', 'json_schema'],
    },
  ],
  description: 'The format that answers must have in evaluations. It is written like `response_format` of OpenAI.',
};

const RecordingSettings = {
  type: ['object' as const, 'null' as const],
  properties: {
    share: { type: ['number' as const, 'null' as const], minimum: 0, maximum: 1 },
    content: { enum: ['none', 'full', null] },
    days: { type: ['integer' as const, 'null' as const], minimum: 1, maximum: recordingLimits.days },
    mask: {
      type: ['array' as const, 'null' as const],
      maxItems: recordingLimits.masks,
      items: {
        anyOf: [
          { enum: [...maskKinds] },
          {
            type: 'object' as const,
            properties: {
              name: { type: 'string' as const, pattern: recordingLimits.name.source },
              pattern: { type: 'string' as const, minLength: 1, maxLength: recordingLimits.pattern },
            },
            required: ['name', 'pattern'],
            additionalProperties: false,
          },
        ],
      },
    },
  },
  additionalProperties: false,
  description:
    'How calls are recorded: the share of the calls (default 1), their content (default none), the days that they are ' +
    'kept (default 30), and what is masked before anything is stored: built-in kinds, and own patterns of RE2. The list ' +
    '`mask` is empty by default, and then nothing is masked.',
};

const Spec = AnyObject.meta({
  additionalProperties: true, // not `Json`: with it, orval's types of the listed fields would not compile
  properties: {
    goal: SpecText,
    task: SpecText,
    system_prompt: SpecText,
    dataset_id: SpecText,
    response_format: SpecFormat,
    record: RecordingSettings,
    acceptance: {
      type: ['object', 'null'],
      properties: { metric: SpecText, threshold: { type: ['number', 'null'] }, field: SpecText },
      additionalProperties: true,
    },
  },
  description: 'Any JSON object of at most 256 KB. Fields that are not listed here are stored as they are.',
  example: { goal: 'Answer questions about capitals', task: 'chat', acceptance: { metric: 'exact', threshold: 0.9 } },
});

const Name = nameText(NAME_LENGTH, 'Capitals');

const ProjectAnswer = namedObject('Project', {
  id: id('prj'),
  name: textLike('Capitals'),
  status: z.enum(['draft', 'reviewed']),
  version: VersionNumber,
  spec: Spec,
  created_by: AccountId,
  created_at: Timestamp,
  updated_at: Timestamp,
  reviewed_version: z
    .int()
    .nullable()
    .meta({ description: 'The last version with a review that found nothing blocking.', example: null }),
  models: z.array(ModelAnswer).describe('The registered models, newest first.'),
  runtime: RuntimeAnswer,
});

export const createProject = api.post('/v1/projects', {
  id: 'createProject',
  summary: 'Create a project',
  description:
    'The new project is empty, has the spec that you send, or has the spec of a starter (`GET /v1/project-starters`). ' +
    'With a starter and without `name`, it has the name of the starter. The records of the starter are imported separately.',
  access: permissions.createProject,
  body: z
    .object({
      name: Name.optional(),
      spec: Spec.optional(),
      ...starterChoice,
    })
    .refine(...sameStarter)
    .meta({
      id: 'ProjectCreation',
      not: {
        anyOf: [
          { required: ['spec', 'starter_id'], properties: { spec: {}, starter_id: {} } },
          { required: ['spec', 'starter'], properties: { spec: {}, starter: {} } },
          { required: ['starter_id', 'starter'], properties: { starter_id: {}, starter: {} } },
        ],
      },
    }),
  bodyOptional: true,
  bodyLimit: 'spec',
  exactNumbers: true,
  versioned: true,
  status: 201,
  answer: ProjectAnswer,
  refusals: ['quota_exceeded'],
});

export const listProjects = api.get('/v1/projects', {
  id: 'listProjects',
  summary: 'List the projects of the team',
  description:
    'Newest first. A page has fewer projects than `limit` if their specs are long. `conversations` has up to 100 of your ' +
    'own conversations in these projects, newest message first.',
  access: permissions.readWorkspace,
  query: NamedPage,
  answer: namedObject('ProjectList', {
    projects: z.array(ProjectAnswer),
    conversations: z.array(ConversationAnswer),
    count: Count.describe('The number of projects in this answer.'),
    next_cursor: NextCursor,
  }),
  refusals: ['busy'],
});

export const readProject = api.get('/v1/projects/{project_id}', {
  id: 'readProject',
  summary: 'Read a project',
  access: permissions.readWorkspace,
  versioned: true,
  answer: ProjectAnswer,
  refusals: ['busy'],
});

export const updateProject = api.put('/v1/projects/{project_id}', {
  id: 'updateProject',
  summary: 'Update a project',
  access: permissions.editWorkspace,
  body: z
    .object({
      version: Version,
      name: Name.optional(),
      spec: Spec,
    })
    .meta({ id: 'ProjectUpdate', required: ['version', 'spec'] }),
  bodyLimit: 'spec',
  exactNumbers: true,
  versioned: true,
  answer: ProjectAnswer,
  refusals: ['quota_exceeded', 'stale_version'],
});

export const deleteProject = api.delete('/v1/projects/{project_id}', {
  id: 'deleteProject',
  summary: 'Delete a project',
  description:
    'Deletes its runtime and all its datasets, models and conversations, also frozen datasets and registered models. This ' +
    'cannot be undone.',
  access: permissions.deleteProject,
  answer: Deleted,
  refusals: ['stale_version'],
});

export const reviewProject = api.post('/v1/projects/{project_id}/plan', {
  id: 'reviewProject',
  summary: 'Review a version of a project',
  description:
    'Lists what is missing or contradictory in the spec, its dataset, its models and its runtime, and what to do next. ' +
    'If nothing blocks, the version becomes `reviewed`.',
  access: permissions.editWorkspace,
  body: z
    .object({ version: Version })
    .meta({ id: 'ProjectReviewRequest', required: ['version'], example: { version: 1 } }),
  bodyOptional: true,
  answer: namedObject('ProjectReview', {
    project_id: id('prj'),
    version: VersionNumber,
    ready: z.boolean().meta({ description: 'Whether nothing is blocking.', example: false }),
    findings: z.array(
      z
        .object({
          level: z.enum(['blocking', 'warning', 'info']),
          code: z.string(),
          path: z.string().describe('The place in the project.'),
          message: z.string(),
        })
        .meta({
          example: {
            level: 'blocking',
            code: 'acceptance_threshold_missing',
            path: 'spec.acceptance.threshold',
            message: 'A metric without a threshold accepts nothing and refuses nothing.',
          },
        }),
    ),
    next_steps: z.array(textLike('Set spec.acceptance.threshold, from 0 to 1.')),
  }),
  refusals: ['busy', 'stale_version'],
});

const ProjectVersionEntry = namedObject('ProjectVersionEntry', { ...versionFields, name: textLike('Capitals') });

export const listProjectVersions = api.get('/v1/projects/{project_id}/versions', {
  id: 'listProjectVersions',
  summary: 'List the versions of a project',
  description: 'Newest first.',
  access: permissions.readWorkspace,
  query: NumberPage,
  answer: pageOfList('versions', ProjectVersionEntry, 'ProjectVersionList'),
});

export const readProjectVersion = api.get('/v1/projects/{project_id}/versions/{version}', {
  id: 'readProjectVersion',
  summary: 'Read a version of a project',
  access: permissions.readWorkspace,
  answer: ProjectVersionEntry.extend({ id: id('prj'), spec: Spec }).meta({ id: 'ProjectVersion' }),
});
