import { shippedProgram } from '../../src/bootstrap/config/shipped.js';
import { AjvJsonSchemas } from '../../src/infrastructure/json-schema/ajv-json-schemas.js';

/** Checks JSON schemas as the service does. Starts its thread with the first check. */
export const schemas = new AjvJsonSchemas(shippedProgram('infrastructure/json-schema/schema-thread.js'));
