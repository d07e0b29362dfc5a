import { shippedProgram } from '../../src/bootstrap/config/shipped.js';
import { AnswerReader } from '../../src/infrastructure/http-engine/answer-reader.js';
import { AjvJsonSchemas } from '../../src/infrastructure/json-schema/ajv-json-schemas.js';

/** Checks JSON schemas as the service does. Starts its thread with the first check. */
export const schemas = new AjvJsonSchemas(shippedProgram('infrastructure/json-schema/schema-thread.js'));

/** Reads answers of engines as the service does: with the compiled thread. */
export const answers = new AnswerReader(shippedProgram('infrastructure/http-engine/answer-thread.js'));
