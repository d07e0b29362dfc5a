import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToyLanguageModel, toyLanguageModel } from './toy-language-model.js';
import { type Transformer, transformer } from './transformer.js';

/** The folder of the chat model that ships with the service. */
export const tinyChat = join(process.cwd(), 'models', 'tiny-chat');

/** The folder of the embedding model that ships with the service. */
export const tinyEmbed = join(process.cwd(), 'models', 'tiny-embed');

/** The ids of the special tokens of tiny-chat: `<|endoftext|>`, `<|im_start|>`, `<|im_end|>`. All other ids are smaller. */
export const specialIds: readonly number[] = JSON.parse(
  readFileSync(join(tinyChat, 'tokenizer.json'), 'utf8'),
).added_tokens.map(({ id }: { id: number }) => id);

/** The token that ends an answer of tiny-chat. */
export const endId = specialIds[2] as number;

/** Lets tiny-chat go on as long as it may. */
export const endless = { logitBias: Object.fromEntries(specialIds.map((id) => [id, -100])) };

/** The number of tokens that tiny-chat knows. */
export const VOCABULARY = endId + 1;

/** Makes model folders for one test file. */
export class ModelFolders {
  private readonly root = mkdtempSync(join(tmpdir(), 'tenon-models-'));
  private count = 0;

  /** Copies tiny-chat. In `changes`, a function rewrites the file of that name, and null removes it. */
  like(changes: Readonly<Record<string, ((text: string) => string | Buffer) | null>> = {}): string {
    this.count += 1;
    const folder = join(this.root, `model-${this.count}`);
    cpSync(tinyChat, folder, { recursive: true });
    for (const [file, change] of Object.entries(changes)) {
      const path = join(folder, file);
      if (change) writeFileSync(path, change(readOr(path, '')));
      else rmSync(path);
    }
    return folder;
  }

  /** Makes a folder with the tokenizer of tiny-chat and the network of the toy. */
  toy(toy: Partial<ToyLanguageModel> = {}, changes: Parameters<ModelFolders['like']>[0] = {}): string {
    return this.like({ 'onnx/model.onnx': () => toyLanguageModel({ vocabulary: VOCABULARY, ...toy }), ...changes });
  }

  /** Makes a folder with the tokenizer of tiny-chat and random weights. No answer makes sense or ends by itself. */
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

/** Returns the number of a token of tiny-chat. */
export function tokenId(token: string): number {
  const { model } = JSON.parse(readFileSync(join(tinyChat, 'tokenizer.json'), 'utf8'));
  return model.vocab[token];
}

/** Changes fields of a JSON file. For `like`. */
export const withFields =
  (fields: Readonly<Record<string, unknown>>) =>
  (text: string): string =>
    JSON.stringify({ ...JSON.parse(text), ...fields });

/** Removes the tokens that end an answer. For `like`. */
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
