import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { type Account, writePrivately } from './account.js';
import { EmbeddedPostgresError, REMEDY } from './failure.js';

/** The shortest limit of the supported systems for a socket's path (macOS), and room for the longest name in use. */
const LONGEST_PATH = 103;
const LONGEST_NAME = '/lock-4194304-12345678'.length;

/** Where the sockets lie, since a path that was long once must be found again under another TMPDIR. */
const note = (folder: string): string => path.join(folder, 'socket-folder');

/** The folder of the sockets for the data folder `folder` (a real path): the same answer in every process. */
export function socketFolder(folder: string): string {
  const within = path.join(folder, 'run');
  if (Buffer.byteLength(within) + LONGEST_NAME <= LONGEST_PATH) return within;
  const name = `tenon-${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`;
  const noted = fs.existsSync(note(folder)) ? fs.readFileSync(note(folder), 'utf8') : '';
  // The note of a folder that has been moved or copied names another folder's sockets.
  return path.basename(noted) === name ? noted : path.join(os.tmpdir(), name);
}

/** Makes the folder, for the account alone. Others may write in the temporary folder, so what is there is checked. */
export function makeSocketFolder(folder: string, account: Account): string {
  const sockets = socketFolder(folder);
  if (Buffer.byteLength(sockets) + LONGEST_NAME > LONGEST_PATH) {
    throw new EmbeddedPostgresError(
      `Both the data folder ${folder} and the temporary folder ${os.tmpdir()} have paths too long for a unix socket: ` +
        `shorten one (TMPDIR) or ${REMEDY}.`,
    );
  }
  try {
    fs.mkdirSync(sockets, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = fs.lstatSync(sockets);
  const ours = found.uid === account.uid || found.uid === process.geteuid?.();
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new EmbeddedPostgresError(
      `${sockets} is not a private folder of user ${account.uid}, so it is not used for sockets: remove it or ${REMEDY}.`,
    );
  }
  if (found.uid !== account.uid) fs.lchownSync(sockets, account.uid, account.gid);
  if (path.dirname(sockets) !== folder) writePrivately(account, note(folder), sockets);
  return sockets;
}
