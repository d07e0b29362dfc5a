import { createHash, randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, EmbeddedPostgresError, FolderTaken, REMEDY, writePrivately } from './account.js';

const TIMEOUT_MS = 1_500;
/** The longest path of a socket in bytes. macOS has the lowest limit of the supported systems. */
const LONGEST_PATH = 103;
const LONGEST_NAME = '/lock-4194304-12345678'.length;

/** Returns the path of the note: a file in `folder` that contains the path of a socket folder outside `folder`. */
const noteFile = (folder: string): string => path.join(folder, 'socket-folder');

/**
 * Returns the folder of the sockets for `folder`, which must be a real path. Every process gets the same result, also
 * with another TMPDIR, as soon as the note is written.
 */
export function socketFolder(folder: string): string {
  const within = path.join(folder, 'run');
  if (Buffer.byteLength(within) + LONGEST_NAME <= LONGEST_PATH) return within;
  const name = `tenon-${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`;
  const noted = fs.existsSync(noteFile(folder)) ? fs.readFileSync(noteFile(folder), 'utf8') : '';
  // After the data folder was moved or copied, its note names the sockets of the old folder.
  return path.basename(noted) === name ? noted : path.join(os.tmpdir(), name);
}

/**
 * Creates the folder of the sockets, which only the account may use. Throws if its path is too long, or if it exists
 * and is not private, because every user of the machine may create folders in the temporary folder.
 */
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
  if (path.dirname(sockets) !== folder) writePrivately(account, noteFile(folder), sockets);
  return sockets;
}

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Locks the data folder until it is released or this process ends.
 *
 * The lock is a socket on which the process listens. The kernel closes it with the process, so a dead process never
 * holds the folder. Each contender first listens on a socket of its own and then looks for others. Of two contenders,
 * at least one sees the other. A contender that sees another one withdraws and tries again later. A contender that sees
 * none has the lock. The name of a lock is never used twice, so removing a dead one cannot hit a living process.
 */
export async function lockFolder(sockets: string, folder: string): Promise<FolderLock> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  for (;;) {
    const mine = await announce(sockets);
    const other = mine && (await livingOther(sockets, mine.name));
    if (mine && !other) return mine;
    await mine?.release();
    if (timeout.aborted) {
      const process = other ? ` (process ${other.split('-')[1]})` : '';
      throw new FolderTaken(
        `Another Tenon${process} already runs on the data folder ${folder}: stop it, choose another, or ${REMEDY}.`,
      );
    }
    await delay(randomInt(30, 200));
  }
}

/** Listens on a new socket. Returns undefined if another contender removed the unfinished socket as a leftover. */
async function announce(sockets: string): Promise<(FolderLock & { name: string }) | undefined> {
  const id = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const [unfinished, name] = [`new-${id}`, `lock-${id}`];
  const at = path.join(sockets, name);
  const server = net.createServer((connection) => connection.on('error', () => {}).destroy());
  const release = async (): Promise<void> => {
    fs.rmSync(at, { force: true });
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ path: path.join(sockets, unfinished), exclusive: true }, resolve);
  });
  try {
    // The file of a socket exists a moment before the process listens. The final name appears only after that moment.
    fs.renameSync(path.join(sockets, unfinished), at);
    return { name, release };
  } catch (error) {
    await release();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the name of another living contender's lock. Removes dead and unfinished sockets until it finds one. */
async function livingOther(sockets: string, mine: string): Promise<string | undefined> {
  for (const name of fs.readdirSync(sockets)) {
    if (name === mine || !/^(lock|new)-/.test(name)) continue;
    const at = path.join(sockets, name);
    if (name.startsWith('lock-') && (await listens(at))) return name;
    fs.rmSync(at, { force: true });
  }
  return undefined;
}

/** Returns false only if the connection is refused or the socket is gone. Other failures count as a living process. */
function listens(at: string): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (alive: boolean): void => {
      socket.destroy();
      resolve(alive);
    };
    const socket = net.connect(at, () => settle(true));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(!['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '')),
    );
  });
}
