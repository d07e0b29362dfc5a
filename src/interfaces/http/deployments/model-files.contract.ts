import { z } from 'zod';
import type { ByteStream } from '../../../application/shared/ports.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { modelFileKinds, modelFileLimits } from '../../../domain/deployments/model-file.js';
import { contractsOf } from '../contract.js';
import { Count, LongPage, NextCursor } from '../paging.js';
import { Deleted, intLike, namedObject, Sha256, Timestamp, textLike } from '../schemas.js';

const api = contractsOf('Monitoring');
const path = '/v1/model-files';
const one = `${path}/{path*}` as const;
const { pathBytes, segments } = modelFileLimits;

export const ModelFileAnswer = namedObject('ModelFile', {
  path: textLike('iris.onnx', 'The value for `model_path` of a deployment and `path` of a model spec.'),
  size: intLike(2410, 'Bytes. Of a folder, the sum of its files.'),
  kind: z
    .enum(modelFileKinds)
    .describe(
      '`onnx`: a file that can be deployed. `chat_model`: a folder with a chat model. `embedding_model`: a folder with the ' +
        'modules of an embedding model. `file`: any other file.',
    ),
  modified_at: Timestamp,
  writable: z.boolean().describe('Whether the service can replace and delete it.'),
});

const UploadedFileAnswer = ModelFileAnswer.extend({
  sha256: Sha256.describe('The SHA-256 of the file in hex.'),
}).meta({ id: 'UploadedModelFile' });

export const listModelFiles = api.get(path, {
  id: 'listModelFiles',
  summary: 'List the model files',
  description: 'Lists the models folders by path: ONNX files, chat and embedding models, and all other uploaded files.',
  access: permissions.readMonitoring,
  query: LongPage.extend({
    cursor: z
      .string()
      .max(4 * pathBytes)
      .optional()
      .describe('The `next_cursor` of the page before.'),
  }),
  answer: namedObject('ModelFiles', {
    model_files: z.array(ModelFileAnswer),
    count: Count,
    next_cursor: NextCursor,
    truncated: z
      .boolean()
      .meta({ description: 'Whether the folders hold more files than the service looks at.', example: false }),
  }),
});

export const uploadModelFile = api.put(one, {
  id: 'uploadModelFile',
  summary: 'Upload a model file',
  description:
    `The body is the file. Its path has at most ${pathBytes} bytes and ${segments} parts, none of which begins with a ` +
    'dot. The file appears whole or not at all, and replaces an uploaded file of the same path. A running model keeps ' +
    'the file that it has loaded. Upload a chat model file by file.',
  access: permissions.manageMonitoring,
  body: z.custom<ByteStream>().meta({ type: 'string', format: 'binary', example: '(the bytes of the file)' }),
  streamed: true,
  media: 'application/octet-stream',
  status: 201,
  otherStatus: { status: 200, when: 'The file replaced another one.' },
  answer: UploadedFileAnswer,
  refusals: ['quota_exceeded', 'busy'],
});

export const deleteModelFile = api.delete(one, {
  id: 'deleteModelFile',
  summary: 'Delete an uploaded model file or chat model',
  description: 'Deletes a chat model with all its files. A running model goes on, but cannot be started again.',
  access: permissions.manageMonitoring,
  answer: Deleted,
  refusals: ['invalid_request', 'not_found'],
});
