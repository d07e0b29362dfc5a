import fc from 'fast-check';
import type { ToolCallPart } from '../../../src/domain/chat/chat.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { AnswerText } from '../../../src/infrastructure/onnx-chat/worker/answer-text.js';
import { loadModel, tryModel } from '../../../src/infrastructure/onnx-chat/worker/chat-model.js';
import type { Scores } from '../../../src/infrastructure/onnx-chat/worker/decoder.js';
import { answerGrammarOf } from '../../../src/infrastructure/onnx-chat/worker/grammar/answer-grammar.js';
import { UnsupportedSchema } from '../../../src/infrastructure/onnx-chat/worker/grammar/schema.js';
import { loadXGrammar } from '../../../src/infrastructure/onnx-chat/worker/grammar/xgrammar.js';
import { readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import { Prompts } from '../../../src/infrastructure/onnx-chat/worker/prompts.js';
import { Sampler } from '../../../src/infrastructure/onnx-chat/worker/sampler.js';
import type { CallForm } from '../../../src/infrastructure/onnx-chat/worker/tools/call-form.js';
import { callReader } from '../../../src/infrastructure/onnx-chat/worker/tools/call-reader.js';
import { jsonSchema } from './json-schemas.js';
import { type ToolTemplate, toolTemplates } from './tool-templates.js';

/**
 * Generates calls of many tools with random schemas in one thread, in every form. Prints for each the schemas, and the
 * parts of the calls as a stream and as a whole.
 *
 *   node calls-program.js <folder> <count of schemas> <tokens of an answer>
 */
const [folder = '', count = '', room = ''] = process.argv.slice(2);
const SEED = 19;

const parametersOf = ({ $defs, ...schema }: JsonObject): JsonObject => ({
  type: 'object',
  properties: { value: schema as JsonObject },
  required: ['value'],
  $defs: $defs as JsonObject,
});

const toolsOf = (schemas: readonly JsonObject[]) =>
  schemas.map((schema, i) => ({ name: `tool_${i}`, schema, path: `tools.${i}` }));

const grammarFor = (schemas: readonly JsonObject[], form: CallForm, areSeveral: boolean) =>
  answerGrammarOf({ path: 'tools', calls: { form, tools: toolsOf(schemas), isRequired: true, areSeveral } });

const files = readModelFiles(folder);
const forms = (Object.keys(toolTemplates) as ToolTemplate[]).map(
  (name) => new Prompts({ ...files, template: { text: toolTemplates[name], file: name } }).callForm as CallForm,
);

function isPossible(schema: JsonObject): boolean {
  try {
    return grammarFor([schema], forms[0] as CallForm, false) !== '';
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
  const stops = [...vocabulary.stops];
  const info = await TokenizerInfo.createTokenizerInfo(pieces, 'byte_level', false, pieces.length, stops);
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const schemas = fc.sample(jsonSchema.map(parametersOf).filter(isPossible), { numRuns: Number(count), seed: SEED });

  /** Chooses between two of the tools. */
  const answer = async (own: readonly JsonObject[], call: number) => {
    const form = forms[call % forms.length] as CallForm;
    const areSeveral = call % 2 === 0;
    const matcher = await GrammarMatcher.createGrammarMatcher(
      await compiler.compileGrammar(grammarFor(own, form, areSeveral)),
    );
    const start = { names: toolsOf(own).map(({ name }) => name), isAnywhere: false };
    const decode = (tokens: readonly number[]) => vocabulary.decode(tokens);
    const [streamed, whole] = [0, 1].map(() => new AnswerText({ decode, calls: callReader(start, form) })) as [
      AnswerText,
      AnswerText,
    ];
    const parts: ToolCallPart[] = [];
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
      for (const text of [streamed, whole]) text.add(token);
      parts.push(...(streamed.take().toolCalls ?? []));
      next = matcher.getNextTokenBitmask().then((found) => {
        mask = found;
      });
      return false;
    };
    const about = { caller: 'usr_a', prompt, room: Number(room), late, choose, add };
    const finishReason = (await scheduler.generate(call, about))?.finishReason;
    matcher.dispose();
    for (const text of [streamed, whole]) text.end(finishReason === 'length');
    parts.push(...(streamed.take().toolCalls ?? []));
    const { text, toolCalls: calls = [] } = whole.take();
    return {
      schemas: own,
      areSeveral: areSeveral && form.separator !== null,
      finishReason,
      isCall: whole.isCall,
      text,
      calls,
      parts,
    };
  };
  const pairs = schemas.flatMap((schema, i) => (i % 2 === 0 ? [[schema, schemas[i + 1] ?? schema]] : []));
  console.log(JSON.stringify(await Promise.all(pairs.map(answer))));
}

void main();
