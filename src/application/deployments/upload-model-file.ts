import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { ModelFileTooLarge, UploadsBusy } from '../../domain/deployments/errors.js';
import { ModelFile, pathFinding } from '../../domain/deployments/model-file.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { ByteStream } from '../shared/byte-stream.js';
import { ModelFileStore, type WrittenFile } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly path: string;
  readonly bytes: ByteStream;
}

export abstract class UploadLimits {
  abstract readonly fileBytes: number;
  abstract readonly atOnce: number;
}

/** Brings a file into the models folder that can be written, whole or not at all. */
@injectable()
export class UploadModelFile {
  private running = 0;

  constructor(
    private readonly store: ModelFileStore,
    private readonly limits: UploadLimits,
  ) {}

  /** Throws ModelFileTooLarge, InvalidRequest, UploadsBusy, and what `ModelStore.write` throws. */
  async execute({ by, path, bytes }: Input): Promise<ModelFile & Pick<WrittenFile, 'replaced' | 'sha256'>> {
    authorize(by, permissions.manageMonitoring);
    const { fileBytes, atOnce } = this.limits;
    if (bytes.length !== null && bytes.length > fileBytes) throw new ModelFileTooLarge(fileBytes);
    const valid = ModelFile.path(path);
    if (this.running >= atOnce) throw new UploadsBusy(atOnce);
    this.running++;
    try {
      await this.requireOwnName(valid);
      const { replaced, sha256, ...file } = await this.store.write(valid, bounded(bytes.chunks, fileBytes));
      return { ...ModelFile.of(file), replaced, sha256 };
    } finally {
      this.running--;
    }
  }

  /** A file could not be reached behind one of the same path, and would be mixed with a model of the same name. */
  private async requireOwnName(path: string): Promise<void> {
    const [name = ''] = path.split('/');
    const { files } = await this.store.list(name);
    if (files.every(({ writable }) => writable)) return;
    throw new InvalidRequest([pathFinding(`must not begin with "${name}", which another models folder has already`)]);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw new ModelFileTooLarge(most);
    yield chunk;
  }
  if (size === 0) throw new InvalidRequest([{ path: '', message: 'the body is the file, and must not be empty' }]);
}
