import { z } from 'zod';
import { MOST_RECORDS, recordLimits } from '../../../domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import type { Json } from '../../../domain/workspace/json.js';
import { jsonReference, STORABLE, wanted } from '../schemas.js';
import { Rows } from './record-forms.js';

const fieldNames = { propertyNames: { maxLength: recordLimits.fieldName, pattern: STORABLE } };

/** Accepts any list: the domain checks the rows, and reports everything that is wrong with each row. */
export const SentRecords = z
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
      'most 16 MiB as JSON. An `origin` with a `call_id` or a `job_id` tells where the record comes from: see the answer.',
    example: [{ id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris' }],
  });

/** Describes where a record comes from. */
export const recordOrigin = {
  type: 'object' as const,
  description:
    'Where the record comes from: the call, or the record of a job. It is no part of the content. Absent: unknown. A value of another form is a field of the record.',
  properties: {
    call_id: { type: 'string' as const, description: 'The id of the job of a call, or the id in its answer.' },
    job_id: { type: 'string' as const, description: 'The job with a result for `record_id`.' },
    record_id: { type: 'string' as const },
    model_id: { type: 'string' as const, description: 'The model that answered.' },
    at: { type: 'number' as const, description: 'The time of the call in seconds since the epoch.' },
  },
  example: { call_id: 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11' },
};

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
      origin: recordOrigin,
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
