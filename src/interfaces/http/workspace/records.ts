import { z } from 'zod';
import { MOST_RECORDS, recordLimits } from '../../../domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import type { Json } from '../../../domain/workspace/json.js';
import { jsonReference, STORABLE, Timestamp, textLike, wanted } from '../schemas.js';
import { Rows } from './record-forms.js';

const fieldNames = { propertyNames: { maxLength: recordLimits.fieldName, pattern: STORABLE } };

/** Accepts any list: the domain checks the rows, and reports everything that is wrong with each row. */
export const SentRows = z
  .custom<readonly Json[] | Rows>((value) => Array.isArray(value) || value instanceof Rows, {
    error: wanted('a list of records'),
  })
  .meta({
    type: 'array',
    maxItems: MOST_RECORDS,
    items: {
      type: 'object',
      properties: {
        id: { type: ['string', 'null'], maxLength: recordLimits.id, pattern: STORABLE },
        group: { type: ['string', 'null'], maxLength: recordLimits.group, pattern: STORABLE },
        input: jsonReference,
        expected: jsonReference,
        fields: { type: ['object', 'null'], ...fieldNames, additionalProperties: jsonReference },
        origin: jsonReference,
      },
      maxProperties: recordLimits.fields,
      ...fieldNames,
      additionalProperties: true,
    },
    description:
      'At most 500 records, unless `SERVICE_DATASET_RECORDS` says otherwise, with at most 50 fields each: `id`, `group`, ' +
      '`input`, `expected`, and fields of your own, beside them or within `fields`, but not in both places. A record without an id is numbered. All records together have at ' +
      'most 16 MiB as JSON, or 3.2 times `SERVICE_DATASET_IMPORT_MB`. An `origin` with a `call_id` or a `job_id` tells where the record comes from: see the answer.',
    example: [{ id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris' }],
  });

export const RecordOrigin = z
  .object({
    call_id: textLike(
      'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
      'The id of the job of a call, or of its answer.',
    ).optional(),
    job_id: textLike('job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a12', 'The job with a result for `record_id`.').optional(),
    record_id: textLike('fr').optional(),
    model_id: textLike('mdl_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'The model that answered.').optional(),
    at: Timestamp.optional(),
  })
  .meta({
    id: 'RecordOrigin',
    description:
      'Where the record comes from: a call, or a record in the results of a job. It is no part of the content. Absent: ' +
      'unknown. A value of another form is a field of the record.',
  });

/** Describes a stored record, and does not validate it again. */
export const RecordAnswer = z
  .custom<DatasetRecord>((record) => record !== null)
  .meta({
    id: 'DatasetRecord',
    type: 'object',
    required: ['id', 'group', 'input', 'expected', 'fields'],
    properties: {
      id: { type: 'string' },
      group: { type: ['string', 'null'] },
      input: { description: 'Any JSON value.' },
      expected: { description: 'Any JSON value.' },
      fields: { type: 'object', additionalProperties: true, description: 'All other fields of the record.' },
      origin: { $ref: '#/components/schemas/RecordOrigin' },
    },
    example: {
      id: 'fr',
      group: 'europe',
      input: 'What is the capital of France?',
      expected: 'Paris',
      fields: { source: 'atlas' },
    },
  });
export const Records = z.array(RecordAnswer);
