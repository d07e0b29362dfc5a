import { shippedProgram } from '../../src/bootstrap/config/shipped.js';
import { AjvJsonSchemas } from '../../src/infrastructure/json-schema/ajv-json-schemas.js';

/** As the service has them. The thread starts with the first question. */
export const schemas = new AjvJsonSchemas(shippedProgram('infrastructure/json-schema/schema-thread.js'));
