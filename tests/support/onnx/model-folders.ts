import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToyLanguageModel, toyLanguageModel } from './toy-language-model.js';
import { type Transformer, transformer } from './transformer.js';

/** The chat model that ships with the service. */
export const tinyChat = join(process.cwd(), 'models', 'tiny-chat');

/** The embedding model that ships with the service. */
export const tinyEmbed = join(process.cwd(), 'models', 'tiny-embed');

const VOCABULARY = 509;

/** Model folders for one test file. */
export class ModelFolders {
  private readonly root = mkdtempSync(join(tmpdir(), 'tenon-models-'));
  private made = 0;

  /** Copies tiny-chat. A function rewrites its file; null removes it. */
  like(changes: Readonly<Record<string, ((text: string) => string | Buffer) | null>> = {}): string {
    this.made += 1;
    const folder = join(this.root, `model-${this.made}`);
    cpSync(tinyChat, folder, { recursive: true });
    for (const [file, change] of Object.entries(changes)) {
      const path = join(folder, file);
      if (change) writeFileSync(path, change(readOr(path, '')));
      else rmSync(path);
    }
    return folder;
  }

  /** Has the tokenizer of tiny-chat and the network of the toy. */
  toy(toy: Partial<ToyLanguageModel> = {}, changes: Parameters<ModelFolders['like']>[0] = {}): string {
    return this.like({ 'onnx/model.onnx': () => toyLanguageModel({ vocabulary: VOCABULARY, ...toy }), ...changes });
  }

  /** Has the tokenizer of tiny-chat and random weights: no answer makes sense or ends by itself. */
  random(about: Partial<Transformer> = {}): string {
    const size = { vocabulary: VOCABULARY, hidden: 64, layers: 2, heads: 4, kvHeads: 2, inner: 96, context: 256 };
    const weights = transformer({ ...size, attention: 'plain', ...about });
    return this.like({ 'onnx/model.onnx': () => weights, ...withoutEnd });
  }

  /** Puts a file of tiny-chat into a folder. */
  copy(file: string, folder: string, as = file): void {
    cpSync(join(tinyChat, file), join(folder, as));
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}

/** The number of a token of tiny-chat. */
export function tokenId(token: string): number {
  const { model } = JSON.parse(readFileSync(join(tinyChat, 'tokenizer.json'), 'utf8'));
  return model.vocab[token];
}

/** For `like`: changes fields of a JSON file. */
export const withFields =
  (fields: Readonly<Record<string, unknown>>) =>
  (text: string): string =>
    JSON.stringify({ ...JSON.parse(text), ...fields });

/** For `like`: no token ends an answer. */
export const withoutEnd = {
  'config.json': withFields({ eos_token_id: null }),
  'generation_config.json': withFields({ eos_token_id: [] }),
  'tokenizer_config.json': withFields({ eos_token: null }),
};

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}
