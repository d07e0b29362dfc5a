import { Re2Masker } from '../../../src/infrastructure/masking/re2-masker.js';
import { maskerContract } from './masker.contract.js';

maskerContract('RE2', new Re2Masker());
