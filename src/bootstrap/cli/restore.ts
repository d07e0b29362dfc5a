import { existsSync, readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { readBackup } from '../../infrastructure/backup/backup-file.js';
import { RestoredFiles } from '../../infrastructure/backup/model-files.js';
import type { SectionHeader } from '../../infrastructure/backup/section-header.js';
import { FolderTaken } from '../../infrastructure/embedded-postgres/account.js';
import { startEmbeddedPostgres } from '../../infrastructure/embedded-postgres/embedded-postgres.js';
import { secretFile } from '../../infrastructure/files/data-folder.js';
import { DatabaseRestoration } from '../../infrastructure/typeorm/backup/database-restoration.js';
import { migrate } from '../../infrastructure/typeorm/migrate.js';
import type { Invocation } from '../../interfaces/cli/commands.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { makeDataFolder } from '../database.js';
import { modelStorage } from '../model-storage.js';
import { auditDatabase, postgresFolder, type ReachedDatabase } from './database.js';

type Sections = Parameters<Parameters<typeof readBackup>[1]>[0];
type Header<K extends SectionHeader['kind']> = Extract<SectionHeader, { kind: K }>;

export async function restore(
  config: Config,
  { words: [source = ''] }: Invocation,
  terminal: Terminal,
  stopping: AbortSignal,
): Promise<void> {
  const path = resolve(source);
  await readBackup(path, async (sections) => {
    requireEmptyFolder(config);
    makeDataFolder(config);
    const reached = await emptyDatabase(config);
    try {
      const missing = await restored(config, reached.url, sections, terminal, stopping);
      await migrate(reached.url); // the backup may be of an earlier version
      await auditDatabase(config, reached.url, 'database.restored', { file: basename(path) });
      for (const file of missing) terminal.err(`tenon: copy this model file yourself: ${file}`);
      terminal.out(`${path} is restored; sessions and keys are as they were at the time of the backup`);
    } finally {
      await reached.close();
    }
  });
}

/** Restores all sections. Returns the model files that the backup only lists and that the store does not have. */
async function restored(
  config: Config,
  url: string,
  sections: Sections,
  terminal: Terminal,
  stopping: AbortSignal,
): Promise<string[]> {
  const { files: store } = await modelStorage(config);
  const files = new RestoredFiles(config.dataDir, store);
  let database: DatabaseRestoration | null = null;
  const begun = () => {
    if (!database) throw new Error('the backup does not say what its tables are');
    return database;
  };
  const missing: string[] = [];
  try {
    for await (const { header, chunks } of sections) {
      stopping.throwIfAborted();
      if (header.kind === 'backup') checkSecret(config, header, terminal);
      else if (header.kind === 'secret') await files.secret(chunks, config.secret);
      else if (header.kind === 'database') database = await DatabaseRestoration.begin(url, header.migrations);
      else if (header.kind === 'table') await begun().table(header.name, header.columns, chunks);
      else if (header.kind === 'sequence') await begun().sequence(header.name, header.value);
      else if (header.kind === 'tasks') await begun().tasks(header.columns, chunks);
      else if (header.included) await files.model(header, chunks);
      else if ((await store.list(header.path)).files.length === 0) missing.push(header.path);
    }
    begun();
    await files.putInPlace(secretFile(config.dataDir));
    await begun().commit();
    return missing;
  } catch (error) {
    await files.takeBack();
    throw error;
  } finally {
    files.end();
    await (database as DatabaseRestoration | null)?.end();
  }
}

function requireEmptyFolder({ dataDir, uploadFolder }: Config): void {
  const models = existsSync(uploadFolder) ? readdirSync(uploadFolder).filter((name) => !name.startsWith('.')) : [];
  const found = existsSync(secretFile(dataDir)) ? 'secret' : models.length > 0 ? 'models/' : null;
  if (!found) return;
  throw new Error(
    `the data folder ${dataDir} is not empty (it has ${found}): a backup is restored only into an empty folder`,
  );
}

async function emptyDatabase(config: Config): Promise<ReachedDatabase> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl) return { url: databaseUrl, close: async () => undefined };
  try {
    const server = await startEmbeddedPostgres({ folder: postgresFolder(config) });
    return { url: server.url, close: () => server.stop() };
  } catch (error) {
    if (!(error instanceof FolderTaken)) throw error;
    throw new Error(`a service runs on the data folder ${dataDir}: restore the backup into another, empty folder`);
  }
}

function checkSecret({ secret }: Config, header: Header<'backup'>, terminal: Terminal): void {
  if (header.secret || secret) return;
  terminal.err(
    'tenon: the backup has no secret: start the service with the same SERVICE_SECRET as before. Without it,',
  );
  terminal.err('tenon: waiting mails are not sent, and links of pending invites are not shown');
}
