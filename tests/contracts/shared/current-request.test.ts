import { AsyncCurrentRequest } from '../../../src/infrastructure/system/async-current-request.js';
import { currentRequestContract } from './current-request.contract.js';

currentRequestContract('Node', () => new AsyncCurrentRequest());
