import { z } from 'zod';
import { modelFileLimits } from '../../../domain/deployments/model-file.js';
import { ModelAlias } from '../../../domain/workspace/model-alias.js';
import { GREATEST_VERSION, id, secret } from '../schemas.js';

const of = (kind: string, what: string) => id(kind).meta({ description: `The id of ${what}.` });

/** Describes the parameters of paths, by name. */
const parameters: Readonly<Record<string, z.ZodType>> = {
  user_id: of('usr', 'an account of your team'),
  invite_id: of('inv', 'an invite of your team'),
  session_id: of('ses', 'a session of your own'),
  key_id: of('key', 'an API key of your own'),
  project_id: of('prj', 'a project of your team'),
  dataset_id: of('dst', 'a dataset of the project'),
  model_id: of('mdl', 'a model of the project'),
  conversation_id: of('cnv', 'a conversation of your own in the project'),
  job_id: of('job', 'a job'),
  rule_id: of('rul', 'an alert rule'),
  alert_id: of('alr', 'an alert'),
  webhook_id: of('whk', 'a webhook'),
  deployment_id: of('dep', 'a deployment'),
  token: secret('tni').meta({ description: 'The token of an invite.' }),
  version: z.int().min(1).max(GREATEST_VERSION).meta({ description: 'A version that the object has had.', example: 1 }),
  alias: z
    .string()
    .regex(ModelAlias.NAME)
    .meta({ description: '1 to 64 letters, digits, `.`, `_` and `-`.', example: 'champion' }),
  path: z.string().min(1).max(modelFileLimits.pathBytes).meta({
    pattern: '^[^./\\\\][^/\\\\]*(/[^./\\\\][^/\\\\]*)*$',
    description: 'A path below the models folders. Its slashes are sent as they are.',
    example: 'vision/iris.onnx',
  }),
};

/** Returns the description of a parameter. A missing one fails the test of the document. */
export const parameterSchema = (name: string): z.ZodType => parameters[name] ?? z.string();
