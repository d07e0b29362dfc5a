import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { projectsContract } from './projects.contract.js';

projectsContract('memory', memoryUnderTest());
projectsContract('PostgreSQL', postgresUnderTest());
