import { masker } from '../../support/masker.js';
import { maskerContract } from './masker.contract.js';

afterAll(() => masker.close());

maskerContract('RE2', masker);
