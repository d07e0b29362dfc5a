import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { contentHasherContract } from './content-hasher.contract.js';

contentHasherContract('node:crypto', () => new Sha256ContentHasher());
