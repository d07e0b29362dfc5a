import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  FORMAT,
  FRAME_HEAD,
  FRAME_MOST,
  type FrameKind,
  frameKinds,
  HEAD,
  type Section,
  type SectionHeader,
  TAIL_LENGTH,
  tailOf,
} from './backup-format.js';
import { fileChunks } from './file-chunks.js';

/** The file cannot be restored. The message says why. */
export class BackupRefused extends Error {}

/** Verifies the checksum of a backup and runs `work` with its sections. Throws BackupRefused. */
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
    const end = await checked(file, path);
    const sections = sectionsOf(file, end, path);
    return await work(sections).finally(() => sections.return(undefined));
  } finally {
    await file.close();
  }
}

/** Returns the position at which the sections end. */
async function checked(file: FileHandle, path: string): Promise<number> {
  const { size } = await file.stat();
  const head = await part(file, 0, HEAD.length);
  const format = /^tenon-backup (\d+)\n/.exec(head)?.[1];
  if (format === undefined) throw new BackupRefused(`${path} is no backup that tenon has made`);
  if (head !== HEAD)
    throw new BackupRefused(`${path} has the format ${format}, and this version of Tenon reads ${FORMAT}`);
  const end = size - TAIL_LENGTH;
  const damaged = new BackupRefused(`${path} is incomplete or has been changed: its checksum does not fit`);
  if (end < HEAD.length) throw damaged;
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(file, 0, end)) hash.update(chunk);
  if ((await part(file, end, TAIL_LENGTH)) !== tailOf(hash.digest('hex'))) throw damaged;
  return end;
}

async function part(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead);
}

async function* sectionsOf(file: FileHandle, end: number, path: string): AsyncGenerator<Required<Section>> {
  // The reader gets the failure.
  const unpacked = pipeline(fileChunks(file, HEAD.length, end), createGunzip(), () => undefined);
  const frames = framesOf(unpacked, path);
  const next = async () => {
    const { value } = await frames.next();
    if (!value) throw broken(path);
    return value;
  };
  for (let frame = await next(); frame.kind !== 'end'; ) {
    if (frame.kind !== 'header') throw broken(path);
    const header = JSON.parse(frame.content.toString()) as SectionHeader;
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

interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

const kindOf = (byte: number) => (Object.keys(frameKinds) as FrameKind[]).find((kind) => frameKinds[kind] === byte);
const broken = (path: string) => new BackupRefused(`${path} does not hold what a backup holds`);

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
