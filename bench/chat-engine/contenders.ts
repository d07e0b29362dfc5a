import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { ChatMessage } from '../../src/domain/chat/chat.js';
import { type Completed, DrivenWorker } from '../../tests/support/onnx/driven-worker.js';

/** A task for a contender, which answers all conversations at once. */
export interface Task {
  readonly conversations: readonly (readonly ChatMessage[])[];
  readonly maxTokens: number;
}

/** The answer to one conversation. Its times count from the start of the whole task. */
export interface Outcome {
  readonly text: string;
  readonly tokens: number;
  readonly firstTokenMs: number;
  readonly tookMs: number;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** The processor time. It depends less on other work on the machine than the times of the outcomes. */
  readonly processorMs: number;
}

type Contender = (task: Task) => Promise<Outcome[]>;

async function ours(folder: string): Promise<Contender> {
  const worker = await new DrivenWorker().load(folder);
  return ({ conversations, maxTokens }) => {
    const begun = performance.now();
    return Promise.all(
      conversations.map(async (messages) => {
        const asked = performance.now();
        const { text, completionTokens, firstTokenMs } = (await worker.ask({
          messages,
          maxTokens,
        })) as Completed;
        const tookMs = performance.now() - begun;
        return { text, tokens: completionTokens, firstTokenMs: asked - begun + firstTokenMs, tookMs };
      }),
    );
  };
}

/** Makes the contender from @huggingface/transformers in the folder `modules`. */
async function theirs(folder: string, modules: string): Promise<Contender> {
  const { env, AutoTokenizer, AutoModelForCausalLM, BaseStreamer } = createRequire(join(modules, 'x.js'))(
    '@huggingface/transformers',
  );
  Object.assign(env, { allowRemoteModels: false, localModelPath: dirname(folder) });
  const name = basename(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 };
  const model = await AutoModelForCausalLM.from_pretrained(name, { dtype: 'fp32', session_options: sessionOptions });
  const answer = async (messages: readonly ChatMessage[], maxTokens: number, begun: number): Promise<Outcome> => {
    const times: number[] = [];
    // A BaseStreamer gets the prompt first, and then each token.
    const put = () => void times.push(performance.now());
    const streamer = Object.assign(new BaseStreamer(), { put, end: () => undefined });
    const inputs = tokenizer.apply_chat_template(messages, { add_generation_prompt: true, return_dict: true });
    const output = await model.generate({ ...inputs, max_new_tokens: maxTokens, do_sample: false, streamer });
    const promptTokens = inputs.input_ids.dims[1] as number;
    const answered = output.slice(null, [promptTokens, null]);
    const [text] = tokenizer.batch_decode(answered, { skip_special_tokens: true });
    return {
      // Our engine leaves out an incomplete character at the end.
      text: (text as string).replace(/\uFFFD$/, ''),
      tokens: (output.dims[1] as number) - promptTokens,
      firstTokenMs: (times[1] ?? Number.NaN) - begun,
      tookMs: performance.now() - begun,
    };
  };
  return ({ conversations, maxTokens }) => {
    const begun = performance.now();
    return Promise.all(conversations.map((messages) => answer(messages, maxTokens, begun)));
  };
}

/** Runs a contender as a process: `node contenders.js <ours|theirs> <model folder> [folder of modules]`. */
async function main(): Promise<void> {
  const [who, folder = '', modules = ''] = process.argv.slice(2);
  const contender = await (who === 'ours' ? ours(folder) : theirs(folder, modules));
  process.on('message', async (task: Task) => {
    const before = process.cpuUsage();
    const outcomes = await contender(task);
    const { user, system } = process.cpuUsage(before);
    process.send?.({ outcomes, processorMs: (user + system) / 1_000 } satisfies Report);
  });
  process.once('disconnect', () => process.exit());
  process.send?.('ready');
}

void main();
