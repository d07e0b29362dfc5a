import { z } from 'zod';
import type { ByteStream } from '../../../application/shared/byte-stream.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { modelFileKinds, modelFileLimits } from '../../../domain/deployments/model-file.js';
import { contract } from '../contract.js';
import { LongPage } from '../paging.js';
import { Count, Deleted, NextCursor, Timestamp } from '../schemas.js';

const tag = 'Monitoring';
const path = '/v1/model-files';
const one = `${path}/{path*}` as const;
const { pathBytes, segments } = modelFileLimits;

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const ModelFileAnswer = z
  .object({
    path: z.string().meta({
      description: 'As `model_path` of a deployment and `path` of a model spec take it',
      example: 'iris.onnx',
    }),
    size: z.int().meta({ description: 'In bytes; of a folder, all that is in it', example: 2410 }),
    kind: z.enum(modelFileKinds).meta({
      description:
        '`onnx`: a file that can be deployed. `chat_model`: a folder that can be chatted with. `file`: anything else.',
    }),
    modified_at: Timestamp,
    writable: z.boolean().meta({ description: 'It can be replaced and deleted through the service' }),
  })
  .meta({ id: 'ModelFile' });

export const UploadedFileAnswer = ModelFileAnswer.extend({
  sha256: z.string().meta({ description: 'Of what arrived, in hex', example: SHA256 }),
}).meta({ id: 'UploadedModelFile' });

export const listModelFiles = contract({
  id: 'listModelFiles',
  method: 'get',
  path,
  tag,
  summary: 'List the model files',
  description:
    'What the models folders hold, by path: ONNX files, chat models, and of what was uploaded every other file, too.',
  access: permissions.readMonitoring,
  query: LongPage.extend({
    cursor: z
      .string()
      .max(4 * pathBytes)
      .optional()
      .meta({ description: 'The `next_cursor` of the page before' }),
  }),
  answer: z
    .object({
      model_files: z.array(ModelFileAnswer),
      count: Count,
      next_cursor: NextCursor,
      truncated: z
        .boolean()
        .meta({ description: 'There is more in the folders than the service looks at', example: false }),
    })
    .meta({ id: 'ModelFiles' }),
  refusals: ['invalid_request'],
});

export const uploadModelFile = contract({
  id: 'uploadModelFile',
  method: 'put',
  path: one,
  tag,
  summary: 'Upload a model file',
  description:
    `The body is the file. Its path has at most ${pathBytes} bytes and ${segments} parts, none of which begins with a ` +
    'dot. It appears whole or not at all, in place of an uploaded file of this path; a model in use keeps the file that it ' +
    'has loaded. A chat model is uploaded file by file.',
  access: permissions.manageMonitoring,
  body: z.custom<ByteStream>().meta({ type: 'string', format: 'binary', example: '(the bytes of the file)' }),
  streamed: true,
  media: 'application/octet-stream',
  status: 201,
  otherStatus: { status: 200, when: 'It took the place of another' },
  answer: UploadedFileAnswer,
  refusals: ['busy'],
});

export const deleteModelFile = contract({
  id: 'deleteModelFile',
  method: 'delete',
  path: one,
  tag,
  summary: 'Delete an uploaded model file or chat model',
  description: 'Of a chat model all files at once. What runs with it goes on, but cannot be started again.',
  access: permissions.manageMonitoring,
  answer: Deleted,
  refusals: ['not_found'],
});
