import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { contentHasherContract } from './content-hasher.contract.js';
import { datasetsContract } from './datasets.contract.js';
import { modelAliasesContract } from './model-aliases.contract.js';
import { modelsContract } from './models.contract.js';
import { projectsContract } from './projects.contract.js';

/** All suites have these in turn; each test begins with an empty one. */
const memory = memoryUnderTest();
const postgres = postgresUnderTest();

projectsContract('memory', memory);
projectsContract('PostgreSQL', postgres);

modelsContract('memory', memory);
modelsContract('PostgreSQL', postgres);

modelAliasesContract('memory', memory);
modelAliasesContract('PostgreSQL', postgres);

datasetsContract('memory', memory);
datasetsContract('PostgreSQL', postgres);

contentHasherContract('node:crypto', () => new Sha256ContentHasher());
