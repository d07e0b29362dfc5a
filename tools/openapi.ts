/** Writes `openapi.json` from the contracts of the routes. With `--check`, only compares it. */
import { openApiDocument } from '../src/interfaces/http/openapi/document.js';
import { version } from '../src/interfaces/version.js';
import { generate } from './generated-file.js';

generate('openapi.json', `${JSON.stringify(openApiDocument(version), null, 2)}\n`, 'openapi');
