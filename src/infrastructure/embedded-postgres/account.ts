import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EmbeddedPostgresError, REMEDY } from './failure.js';

/** Who owns the data folder and runs the server. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Whether this process is root and has to become that account. */
  readonly drop: boolean;
}

/**
 * Makes `folder` and settles whose it is. PostgreSQL refuses to run as root, so root hands a new folder to an
 * unprivileged account that exists already, and later goes by the folder's owner, whoever that is.
 */
export function claimFolder(folder: string): Account {
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = fs.statSync(folder);
  const uid = process.geteuid?.() ?? -1;
  if (uid !== 0) {
    if (owner.uid === uid) return { uid, gid: process.getegid?.() ?? -1, drop: false };
    const who = owner.uid === 0 ? 'root' : `user ${owner.uid}`;
    throw new EmbeddedPostgresError(
      `The data folder ${folder} belongs to ${who}, this process runs as user ${uid}: ` +
        `start it as the owner or root, choose another data folder, or ${REMEDY}.`,
    );
  }
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, drop: true };
  const account = unprivilegedAccount(fs.readFileSync('/etc/passwd', 'utf8'));
  fs.chownSync(folder, account.uid, account.gid);
  fs.chmodSync(folder, 0o700);
  return account;
}

export function unprivilegedAccount(passwd: string): Account {
  const users = passwd.split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((user) => user[0] === name) ?? [];
    // macOS writes nobody as -2.
    if (Number(uid)) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0, drop: true };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root and there is no account "postgres" or "nobody": run as another user or ${REMEDY}.`,
  );
}

/**
 * Writes a file that only the account reads, whole or not at all. The folder is the account's, so root must not
 * write through a link that the account may have left there.
 */
export function writePrivately(account: Account, file: string, text: string): void {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  const handle = fs.openSync(unfinished, 'wx', 0o600);
  try {
    fs.writeSync(handle, text);
    if (account.drop) fs.fchownSync(handle, account.uid, account.gid);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(unfinished, file);
}
