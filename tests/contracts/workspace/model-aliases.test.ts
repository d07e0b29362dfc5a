import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { modelAliasesContract } from './model-aliases.contract.js';

modelAliasesContract('memory', memoryUnderTest());
modelAliasesContract('PostgreSQL', postgresUnderTest());
