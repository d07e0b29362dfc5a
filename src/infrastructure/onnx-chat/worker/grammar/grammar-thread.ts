/** A thread that compiles the grammar of one form, and then computes the masks of the sequences with this grammar. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { CompiledGrammar } from '@mlc-ai/web-xgrammar';
import { type AnswerForm, answerGrammarOf } from './answer-grammar.js';
import { type MaskMemory, writeFailure, writeMask } from './mask.js';
import { UnsupportedSchema } from './schema.js';
import { loadXGrammar } from './xgrammar.js';

/** The tokens of a model, in the form of byte-level vocabularies. */
export interface Tokens {
  readonly pieces: readonly string[];
  /** The pieces of added tokens that only free text and tool calls may have, by number. */
  readonly added: ReadonlyMap<number, string>;
  /** The tokens that end an answer. */
  readonly stops: readonly number[];
}

export interface GrammarSource extends Tokens {
  readonly form: AnswerForm;
}

/** Starts the masks of a sequence. The sequence sends each of its tokens through `port`, and finally closes `port`. */
export interface SequenceOrder {
  readonly path: string;
  readonly memory: MaskMemory;
  readonly port: MessagePort;
}

export type GrammarReport =
  | { readonly type: 'compiled' }
  | { readonly type: 'refused'; readonly path: string; readonly message: string };

// Other calls need the processor more. On Linux, the priority applies to this thread alone.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = loadXGrammar();

async function compile({ pieces, added, stops, form }: GrammarSource): Promise<GrammarReport> {
  try {
    const grammar = answerGrammarOf(form);
    const all = form.calls ? pieces.map((piece, token) => added.get(token) ?? piece) : [...pieces];
    const info = await TokenizerInfo.createTokenizerInfo(all, 'byte_level', false, all.length, [...stops]);
    compiled = await (await GrammarCompiler.createGrammarCompiler(info)).compileGrammar(grammar);
    return { type: 'compiled' };
  } catch (error) {
    if (error instanceof UnsupportedSchema) return { type: 'refused', path: error.path, message: error.message };
    if (error instanceof RangeError)
      return {
        type: 'refused',
        path: form.path,
        message: 'is too deep: $ref, allOf, anyOf or properties lead through too many others',
      };
    throw error;
  }
}

async function serve(grammar: CompiledGrammar, { memory, port }: SequenceOrder): Promise<void> {
  const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
  port.on('close', () => matcher.dispose());
  port.on('message', async (token: number) => {
    if (matcher.acceptToken(token)) writeMask(memory, await matcher.getNextTokenBitmask());
    else writeFailure(memory);
  });
  writeMask(memory, await matcher.getNextTokenBitmask());
}

let compiled: CompiledGrammar;
parentPort?.on('message', (order: SequenceOrder) => void serve(compiled, order));
void compile(workerData as GrammarSource).then((report) => parentPort?.postMessage(report satisfies GrammarReport));
