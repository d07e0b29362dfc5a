import { loadChatModel } from '../../../src/infrastructure/onnx/worker/chat-model.js';
import { generate } from '../../../src/infrastructure/onnx/worker/generation.js';

/**
 * Answers one question with the prompt fed in chunks of several sizes, and prints the tokens of each answer.
 *
 *   node prefill-program.js <folder> <what to ask> <chunk>...
 */
const [folder = '', text = '', ...chunks] = process.argv.slice(2);

async function main(): Promise<void> {
  const { decoder, encode, stops } = await loadChatModel(folder, 1);
  const prompt = encode([{ role: 'user', content: text }]);
  const asked = { prompt, room: 40, temperature: 0, stops };
  const answers: unknown[] = [];
  for (const chunk of chunks) answers.push(await generate(decoder, asked, () => true, Number(chunk)));
  console.log(JSON.stringify({ promptTokens: prompt.length, answers }));
}

void main();
