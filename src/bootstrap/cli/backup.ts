import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Section, writeBackup } from '../../infrastructure/backup/backup-file.js';
import { modelFileSections } from '../../infrastructure/backup/model-files.js';
import { secretFile } from '../../infrastructure/files/data-folder.js';
import { SystemClock } from '../../infrastructure/system/adapters.js';
import { dumpDatabase } from '../../infrastructure/typeorm/backup/dump-database.js';
import { isMissingTable } from '../../infrastructure/typeorm/storage-errors.js';
import type { Invocation } from '../../interfaces/cli/commands.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import { version } from '../../interfaces/version.js';
import type { Config } from '../config/config.js';
import { modelStorage } from '../model-storage.js';
import { auditDatabase, reachDatabase } from './database.js';

const MOST_FILES = 1_000_000;

export async function backup(
  config: Config,
  { words: [target = ''], flags }: Invocation,
  terminal: Terminal,
  stopping: AbortSignal,
): Promise<void> {
  const createdAt = new SystemClock().now().toISOString();
  const path = fileAt(resolve(target), createdAt);
  const withModels = flags.has('with-models');
  const reached = await reachDatabase(config, { make: false });
  try {
    const counts = { tables: 0, included: 0, listed: 0 };
    const sections = counted(sectionsOf(config, reached.url, createdAt, withModels), counts);
    await writeBackup(path, sections, stopping, async ({ bytes, sha256, publish }) => {
      const details = { file: basename(path), bytes, sha256, with_models: withModels };
      await auditDatabase(config, reached.url, 'database.backed_up', details).catch((error) => {
        if (!isMissingTable(error)) throw error;
        terminal.err(
          'tenon: the backup is not recorded, because the tables of this earlier version have no audit trail',
        );
      });
      await publish();
      const { tables, included, listed } = counts;
      terminal.out(`${path}: ${bytes} bytes, ${tables} tables, ${included} model files inside, ${listed} only listed`);
    });
    if (config.secret === null && !existsSync(secretFile(config.dataDir))) {
      terminal.err(
        `tenon: ${config.dataDir} (SERVICE_DATA_DIR) has no secret, so the backup has no secret either: without the`,
      );
      terminal.err('tenon: secret of the service, waiting mails and links of pending invites cannot be opened');
    }
    if (config.secret) terminal.out('keep SERVICE_SECRET too: the backup does not have it, because it is a setting');
  } finally {
    await reached.close();
  }
}

/** Returns the path of the backup. For a folder, returns a new name in this folder. Throws if the file exists. */
function fileAt(path: string, createdAt: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const file = isFolder ? join(path, `tenon-${createdAt.replace(/[:.]/g, '-')}.backup`) : path;
  if (existsSync(file)) throw new Error(`${file} is there already`);
  return file;
}

async function* sectionsOf(
  config: Config,
  url: string,
  createdAt: string,
  withModels: boolean,
): AsyncGenerator<Section> {
  const secret = keptSecretOf(config);
  yield { header: { kind: 'backup', tenon: version, created_at: createdAt, secret: secret !== null } };
  if (secret !== null) yield { header: { kind: 'secret' }, chunks: onePiece(secret) };
  yield* dumpDatabase(url);
  const { files } = await modelStorage(config, { maxEntries: MOST_FILES });
  yield* modelFileSections(files, withModels);
}

function keptSecretOf({ secret, dataDir }: Config): Buffer | null {
  const file = secretFile(dataDir);
  return secret !== null || !existsSync(file) ? null : readFileSync(file);
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

interface Counts {
  tables: number;
  included: number;
  listed: number;
}

async function* counted(sections: AsyncIterable<Section>, counts: Counts): AsyncGenerator<Section> {
  for await (const section of sections) {
    const { header } = section;
    if (header.kind === 'table') counts.tables++;
    if (header.kind === 'model_file') counts[header.included ? 'included' : 'listed']++;
    yield section;
  }
}
