import { accessSync, constants, statfsSync } from 'node:fs';
import { InstanceOutdated } from '../../domain/shared/errors.js';
import { hasEmbeddedDatabase } from '../../infrastructure/embedded-postgres/embedded-postgres.js';
import { SmtpMailer } from '../../infrastructure/smtp/mailers.js';
import { createDataSource, type DataSource } from '../../infrastructure/typeorm/data-source.js';
import { migrationsDone } from '../../infrastructure/typeorm/migrate.js';
import { TypeOrmStorageProbe } from '../../infrastructure/typeorm/operations/operations.js';
import { RELEASE, releaseOf } from '../../infrastructure/typeorm/releases.js';
import { asStorageUnavailable } from '../../infrastructure/typeorm/storage-errors.js';
import type { Invocation } from '../../interfaces/cli/commands.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { makeDataFolder } from '../database.js';
import { modelStorage } from '../model-storage.js';
import { postgresFolder, reachDatabase } from './database.js';

const LEAST_FREE_BYTES = 1024 ** 3;

/** Returns the reason of a failure. A failure to connect to several addresses has a code but no message. */
const reasonOf = ({ message, code }: NodeJS.ErrnoException): string => message || code || 'it does not answer';

/** Says how to bring the tables up to date. Instances of the last release work with the tables of this one. */
async function wayToUpdate(source: DataSource): Promise<string> {
  const done = await migrationsDone(source);
  const release = await releaseOf(source, done);
  if (done.length === 0 || release >= RELEASE.number - 1)
    return 'start instances of this version one after another, or run "tenon migrate"';
  return `they are older than release ${RELEASE.number - 1}, so stop all instances before you start this version`;
}

/** Each check returns a description of its result, or throws an error that says what to do. */
const checks: Readonly<Record<string, (config: Config) => Promise<string> | string>> = {
  node() {
    return `${process.version} (${process.execPath})`;
  },
  settings({ unknown }) {
    if (unknown.length > 0)
      throw new Error(`these are no settings and are ignored: ${unknown.join(', ')}: correct or remove them`);
    return 'understood';
  },
  'data folder'(config) {
    makeDataFolder(config);
    accessSync(config.dataDir, constants.R_OK | constants.W_OK);
    return config.dataDir;
  },
  disk({ dataDir }) {
    const { bavail, bsize } = statfsSync(dataDir);
    const free = `${Math.floor((bavail * bsize) / 1024 ** 2)} MB free`;
    if (bavail * bsize < LEAST_FREE_BYTES) throw new Error(`only ${free} in ${dataDir}: make room`);
    return free;
  },
  'models folders'({ modelFolders }) {
    for (const folder of modelFolders) accessSync(folder, constants.R_OK | constants.X_OK);
    return modelFolders.join(', ');
  },
  async 'model store'(config) {
    const { modelStore } = config;
    if (!modelStore) return 'none is set: uploads stay in the data folder';
    await (await modelStorage(config)).files.list();
    return `answers: s3://${modelStore.bucket}/${modelStore.prefix}`;
  },
  async database(config) {
    if (!config.databaseUrl && !hasEmbeddedDatabase(postgresFolder(config))) return 'made by the first start';
    const reached = await reachDatabase(config, { make: false });
    try {
      const source = await createDataSource(reached.url, 1)
        .initialize()
        .catch((error) => {
          const { host, pathname } = new URL(reached.url);
          const name = config.databaseUrl ? `${host}${pathname} (DATABASE_URL)` : 'the embedded database';
          throw new Error(`${name} cannot be used (${reasonOf(error)}): start it, or mend the setting`);
        });
      try {
        await new TypeOrmStorageProbe(source).check().catch(async (error) => {
          if (error instanceof InstanceOutdated) throw error;
          throw new Error(`its tables are not up to date: ${await wayToUpdate(source)}`);
        });
      } finally {
        await source.destroy();
      }
    } finally {
      await reached.close();
    }
    return 'answers, and its tables are up to date';
  },
  async mail({ smtpUrl, mailFrom }) {
    if (!smtpUrl) return 'none is set: mails become files in outbox/';
    await new SmtpMailer(smtpUrl, mailFrom).verify().catch((error) => {
      throw new Error(
        `${new URL(smtpUrl).host} cannot be used (${reasonOf(error)}): mend SERVICE_SMTP_URL, or start the server`,
      );
    });
    return 'the server accepts connections';
  },
};

/** Prints a line for each check. Throws if one of them fails. */
export async function doctor(config: Config, _: Invocation, terminal: Terminal): Promise<void> {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      terminal.out(`ok    ${name}: ${await check(config)}`);
    } catch (error) {
      failed++;
      terminal.out(`MEND  ${name}: ${(asStorageUnavailable(error) as Error).message}`);
    }
  }
  if (failed > 0) throw new Error(`${failed} of ${Object.keys(checks).length} are to be mended`);
}
