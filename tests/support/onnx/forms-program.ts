import fc from 'fast-check';
import type { Json } from '../../../src/domain/workspace/json.js';
import { loadModel, tryModel } from '../../../src/infrastructure/onnx-chat/worker/chat-model.js';
import type { Scores } from '../../../src/infrastructure/onnx-chat/worker/decoder.js';
import { grammarOf } from '../../../src/infrastructure/onnx-chat/worker/grammar/json-grammar.js';
import { UnsupportedSchema } from '../../../src/infrastructure/onnx-chat/worker/grammar/schema.js';
import { loadXGrammar } from '../../../src/infrastructure/onnx-chat/worker/grammar/xgrammar.js';
import { Sampler } from '../../../src/infrastructure/onnx-chat/worker/sampler.js';
import { jsonSchema } from './json-schemas.js';

/**
 * Generates an answer for each of many random schemas, or for the given ones, in one thread. Prints each schema with its
 * answer.
 *
 *   node forms-program.js <folder> <count of schemas> <tokens of an answer> [<schemas as JSON>]
 */
const [folder = '', count = '', room = '', given] = process.argv.slice(2);
const SEED = 18;

/** Checks whether a schema has a grammar. Schemas without a valid value, and rare conjunctions, have none. */
function isPossible(schema: Json): boolean {
  try {
    return grammarOf(schema, '') !== '';
  } catch (error) {
    if (error instanceof UnsupportedSchema) return false;
    throw error;
  }
}

async function main(): Promise<void> {
  const prompt = [1, 5, 9];
  const { scheduler, vocabulary } = await tryModel(await loadModel(folder, 1, {}), prompt);
  const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = loadXGrammar();
  const pieces = vocabulary.pieces();
  const info = await TokenizerInfo.createTokenizerInfo(pieces, 'byte_level', false, pieces.length, [
    ...vocabulary.stops,
  ]);
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const schemas: Json[] = given
    ? JSON.parse(given)
    : fc.sample(jsonSchema.filter(isPossible), { numRuns: Number(count), seed: SEED });
  const answer = async (schema: Json, call: number) => {
    const matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammarOf(schema, '')));
    const sampler = new Sampler(1, { seed: call });
    let mask = await matcher.getNextTokenBitmask();
    let next: Promise<void> | null = null;
    const late = () => {
      const now = next;
      next = null;
      return now;
    };
    const choose = (scores: Scores) => sampler.next(scores, mask);
    const add = (token: number) => {
      if (!matcher.acceptToken(token)) throw new Error(`the grammar has no token ${token}`);
      next = matcher.getNextTokenBitmask().then((found) => {
        mask = found;
      });
      return false;
    };
    const generated = await scheduler.generate(call, {
      caller: 'usr_a',
      prompt,
      room: Number(room),
      late,
      choose,
      add,
    });
    matcher.dispose();
    const { tokens = [], finishReason } = generated ?? {};
    return { schema, text: vocabulary.decode([...tokens]), finishReason };
  };
  console.log(JSON.stringify(await Promise.all(schemas.map(answer))));
}

void main();
