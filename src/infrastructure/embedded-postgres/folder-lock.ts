import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderTaken, REMEDY } from './failure.js';

const PATIENCE_MS = 1_500;

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes the data folder for this process, for as long as the process lives.
 *
 * The lock is a socket on which the process listens. The kernel closes it with the process, however that dies, so
 * nothing stale can hold the folder. Each contender first listens on a socket of its own and then looks for others:
 * of any two, at least one sees the other. Who sees a living one withdraws and tries again a little later; who sees
 * none has the lock. Names are never used twice, so removing a dead socket cannot hit a living process.
 */
export async function lockFolder(sockets: string, folder: string): Promise<FolderLock> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  for (;;) {
    const mine = await announce(sockets);
    const other = mine && (await livingOther(sockets, mine.name));
    if (mine && !other) return mine;
    await mine?.release();
    if (patience.aborted) {
      const process = other ? ` (process ${other.split('-')[1]})` : '';
      throw new FolderTaken(
        `Another Tenon${process} already runs on the data folder ${folder}: stop it, choose another, or ${REMEDY}.`,
      );
    }
    await sleep(randomInt(30, 200));
  }
}

/** Undefined where another contender took the unfinished socket for a leftover. */
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
    // A socket is there a moment before it listens; under its final name it always does.
    fs.renameSync(path.join(sockets, unfinished), at);
    return { name, release };
  } catch (error) {
    await release();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function livingOther(sockets: string, mine: string): Promise<string | undefined> {
  for (const name of fs.readdirSync(sockets)) {
    if (name === mine || !/^(lock|new)-/.test(name)) continue;
    const at = path.join(sockets, name);
    if (name.startsWith('lock-') && (await listens(at))) return name;
    fs.rmSync(at, { force: true });
  }
  return undefined;
}

/** Only a refusal shows that nobody is there; any other failure counts as life. */
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
