import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ownMark, removeLeftovers } from '../files/leftovers.js';
import { fileChunks } from '../files/local-model-file-store.js';
import { CheckedSections, type SectionHeader } from './section-header.js';

/**
 * The number of the file format. A backup is one file: a line with this number, the sections compressed with gzip, a
 * line break, and a line with the SHA-256 of all bytes before this line break. A section is a JSON header and any
 * number of pieces of data. Each header and each piece begins with one byte for its kind and four bytes for its length.
 */
const FORMAT = 1;
const HEAD = `tenon-backup ${FORMAT}\n`;
const tailOf = (sha256: string): string => `\nsha256 ${sha256}\n`;
const TAIL_LENGTH = tailOf('0'.repeat(64)).length;

const FRAME_HEAD = 5;
const FRAME_MOST = 256 * 1024;
const frameKinds = { header: 0x48, data: 0x44, end: 0x45 } as const;
type FrameKind = keyof typeof frameKinds;

export interface Section {
  readonly header: SectionHeader;
  readonly chunks?: AsyncIterable<Uint8Array>;
}

export interface WrittenBackup {
  readonly bytes: number;
  readonly sha256: string;
  publish(): Promise<void>;
}

/**
 * Writes the sections to a temporary file that only its owner may read, and runs `then`. `then` may call `publish`,
 * which moves the file to `path`. Removes the file if it was not published, and what killed backups have left.
 */
export async function writeBackup<T>(
  path: string,
  sections: AsyncIterable<Section>,
  signal: AbortSignal,
  then: (backup: WrittenBackup) => Promise<T>,
): Promise<T> {
  removeUnfinished(path);
  const unfinished = `${path}.${ownMark}.part`;
  const file = await open(unfinished, 'wx', 0o600).catch((error) => {
    throw unwritable(dirname(path), error);
  });
  try {
    const { bytes, sha256 } = await writeSections(file, sections, signal).finally(() => file.close());
    return await then({ bytes, sha256, publish: () => publish(unfinished, path) });
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Removes the temporary files of killed backups with this path, or with a path that `tenon backup` made in its folder. */
function removeUnfinished(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  removeLeftovers(folder, new RegExp(`^(?:${escaped(name)}|tenon-[^.]*[.]backup)[.]([\\da-f]+-\\d+|\\d+)[.]part$`));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function unwritable(folder: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return new Error(`there is no folder ${folder}: create it, or choose another`);
  if (error.code === 'ENOTDIR') return new Error(`${folder} is not a folder: choose a folder`);
  return new Error(`no file can be written in ${folder} (${error.code}): choose another folder, or fix the problem`);
}

async function writeSections(file: FileHandle, sections: AsyncIterable<Section>, signal: AbortSignal) {
  const hash = createHash('sha256');
  let bytes = 0;
  const write = async (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    await file.writeFile(chunk); // appends
  };
  await write(Buffer.from(HEAD));
  const rest = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await write(chunk);
  };
  await pipeline(framed(sections), createGzip(), rest, { signal });
  const sha256 = hash.digest('hex');
  const tail = tailOf(sha256);
  await file.writeFile(tail);
  await file.sync();
  return { bytes: bytes + tail.length, sha256 };
}

async function* framed(sections: AsyncIterable<Section>): AsyncGenerator<Buffer> {
  for await (const { header, chunks } of sections) {
    yield* frame('header', Buffer.from(JSON.stringify(header)));
    for await (const chunk of chunks ?? []) {
      for (let at = 0; at < chunk.length; at += FRAME_MOST) yield* frame('data', chunk.subarray(at, at + FRAME_MOST));
    }
  }
  yield* frame('end', Buffer.alloc(0));
}

function* frame(kind: FrameKind, content: Uint8Array): Generator<Buffer> {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt8(frameKinds[kind]);
  head.writeUInt32BE(content.length, 1);
  yield head;
  if (content.length > 0) yield Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** Moves the file to `path` and syncs the folder, so that the new name survives a power cut. */
async function publish(unfinished: string, path: string): Promise<void> {
  await rename(unfinished, path);
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

export class BackupRefused extends Error {}

/**
 * Verifies the checksum and all sections, then runs `work` with the sections. Throws BackupRefused for a file that is no
 * valid backup.
 */
export async function readBackup<T>(
  path: string,
  work: (sections: AsyncGenerator<Required<Section>>) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new BackupRefused(`there is no file ${path}: name the backup to restore`);
    throw new BackupRefused(`${path} cannot be read (${error.code})`);
  });
  try {
    if (!(await file.stat()).isFile()) throw new BackupRefused(`${path} is no file: name the backup to restore`);
    const end = await verifiedEnd(file, path);
    const checked = new CheckedSections();
    for await (const { header, chunks } of sectionsOf(file, end, path)) {
      const problem = await checked.problemOf(header, chunks);
      if (problem) throw new BackupRefused(`${path} does not have the contents of a backup: ${problem}`);
    }
    const missing = checked.missing();
    if (missing) throw new BackupRefused(`${path} does not have the contents of a backup: ${missing}`);
    const sections = sectionsOf(file, end, path);
    return await work(sections).finally(() => sections.return(undefined));
  } finally {
    await file.close();
  }
}

async function verifiedEnd(file: FileHandle, path: string): Promise<number> {
  const { size } = await file.stat();
  const head = await readText(file, 0, HEAD.length);
  const format = /^tenon-backup (\d+)\n/.exec(head)?.[1];
  if (format === undefined) throw new BackupRefused(`${path} is no backup that tenon has made`);
  if (head !== HEAD)
    throw new BackupRefused(`${path} has the format ${format}, and this version of Tenon reads ${FORMAT}`);
  const end = size - TAIL_LENGTH;
  const damaged = new BackupRefused(`${path} is incomplete or has been changed: its checksum does not fit`);
  if (end < HEAD.length) throw damaged;
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(file, 0, end)) hash.update(chunk);
  if ((await readText(file, end, TAIL_LENGTH)) !== tailOf(hash.digest('hex'))) throw damaged;
  return end;
}

async function readText(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead);
}

async function* sectionsOf(file: FileHandle, end: number, path: string): AsyncGenerator<Required<Section>> {
  const unpacked = createGunzip();
  // the reader of `unpacked` gets the failure
  pipeline(fileChunks(file, HEAD.length, end), unpacked).catch(() => undefined);
  const frames = framesOf(unpacked, path);
  const next = async () => {
    const { value } = await frames.next().catch((error: unknown) => {
      throw error instanceof BackupRefused ? error : broken(path);
    });
    if (!value) throw broken(path);
    return value;
  };
  for (let frame = await next(); frame.kind !== 'end'; ) {
    if (frame.kind !== 'header') throw broken(path);
    const header = parsed(frame.content, path) as SectionHeader;
    let following: Frame | undefined;
    const chunks = (async function* () {
      for (following = await next(); following.kind === 'data'; following = await next()) yield following.content;
    })();
    yield { header, chunks };
    for await (const _ of chunks); // skips data that was not read
    if (!following) throw broken(path);
    frame = following;
  }
}

function parsed(header: Buffer, path: string): unknown {
  try {
    return JSON.parse(header.toString());
  } catch {
    throw broken(path);
  }
}

interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

const kindOf = (byte: number) => (Object.keys(frameKinds) as FrameKind[]).find((kind) => frameKinds[kind] === byte);
const broken = (path: string) => new BackupRefused(`${path} does not have the contents of a backup`);

async function* framesOf(bytes: AsyncIterable<Buffer>, path: string): AsyncGenerator<Frame, undefined> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < FRAME_HEAD) break;
      const [kind, length] = [kindOf(held.readUInt8()), held.readUInt32BE(1)];
      if (!kind || length > FRAME_MOST) throw broken(path);
      if (held.length < FRAME_HEAD + length) break;
      yield { kind, content: held.subarray(FRAME_HEAD, FRAME_HEAD + length) };
      held = held.subarray(FRAME_HEAD + length);
    }
  }
  return undefined;
}
