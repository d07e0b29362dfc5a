import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChatMessage, ChatRequest } from '../../../src/domain/chat/chat.js';
import type { RuntimeSource } from '../../../src/domain/chat/runtime.js';
import { OpenAiChatRuntime } from '../../../src/infrastructure/openai/openai-chat-runtime.js';
import { ChatRuntimesByKind } from '../../../src/infrastructure/runtimes/chat-runtimes-by-kind.js';
import { SystemClock } from '../../../src/infrastructure/system/system-clock.js';
import { MemoryChatRuntime } from '../../fakes/chat/memory-chat-runtime.js';
import type { ChatRuntimesLimits, ChatRuntimesUnderTest } from '../../support/chat-runtimes-rig.js';
import { ChildRuntimesRig, oddWorker } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, withFields, withoutEnd } from '../../support/onnx/model-folders.js';
import { RecordingLog } from '../../support/recording-log.js';
import { type Asked, completion, ScriptedEngine, send } from '../../support/scripted-engine.js';
import { chatAnswersContract } from './chat-answers.contract.js';
import { chatRuntimesContract } from './chat-runtimes.contract.js';

const onnx = (folder: string): RuntimeSource => ({ kind: 'onnx', folder });
const openAi = (model: string, baseUrl = 'http://engine/v1', key: string | null = null): RuntimeSource => ({
  kind: 'openai',
  baseUrl,
  model,
  modelAliases: [],
  key,
});

function bothContracts(...about: Parameters<typeof chatRuntimesContract>): void {
  chatRuntimesContract(...about);
  chatAnswersContract(...about);
}

describe('chat runtimes', () => {
  const folders = new ModelFolders();
  const context = 1_024;
  const long = { ...withoutEnd, 'config.json': withFields({ eos_token_id: null, max_position_embeddings: context }) };
  const [model, slow] = [folders.toy(), folders.toy({ idleRounds: 10_000 }, long)];
  afterAll(() => folders.remove());

  bothContracts('child processes', ({ babbling, ...limits }): ChatRuntimesUnderTest => {
    const rig = new ChildRuntimesRig({ ...limits, ...(babbling && { worker: oddWorker }) });
    const broken = folders.toy({}, { 'tokenizer.json': null });
    return {
      runtimes: rig.runtimes,
      model: onnx(model),
      asked: 'Count to 6.', // which the toy answers in four tokens
      context,
      slow: onnx(slow),
      broken: onnx(broken),
      blame: /tokenizer/,
      countsFirst: true,
      mend: () => folders.copy('tokenizer.json', broken),
      babbling: onnx('/models/babbling'),
      crash: (id) => rig.kill(id),
      processes: () => rig.processes().length,
    };
  });
});

const memory = ({ babbling: _, ...limits }: ChatRuntimesLimits) => {
  const load = () => pause(20);
  let mended = false;
  const loadBroken = async () => {
    await load();
    if (!mended) throw new Error('tokenizer: there is none');
  };
  const slowly = ({ maxTokens }: ChatRequest, signal: AbortSignal) =>
    maxTokens === 1 ? 'brief' : pause(5_000, 'long', { signal });
  const models = {
    model: { load },
    slow: { load, answer: slowly },
    broken: { load: loadBroken },
    babbling: { load, answer: () => 42 },
  };
  const make = () => new MemoryChatRuntime(models, { context: 256, restartMs: 20, ...limits });
  const mend = () => {
    mended = true;
  };
  return { make, usual: { asked: 'What is the capital of France?', context: 256, countsFirst: true, mend } };
};

bothContracts('memory', (limits): ChatRuntimesUnderTest => {
  const { make, usual } = memory(limits);
  const runtimes = make();
  return {
    ...usual,
    runtimes,
    model: onnx('model'),
    slow: onnx('slow'),
    broken: onnx('broken'),
    blame: /tokenizer/,
    babbling: onnx('babbling'),
    crash: (id) => runtimes.crash(id),
    processes: () => runtimes.running,
  };
});

bothContracts('the adapter for each kind', (limits): ChatRuntimesUnderTest => {
  const { make, usual } = memory(limits);
  const kinds = { onnx: make(), openai: make() };
  return {
    ...usual,
    runtimes: new ChatRuntimesByKind(kinds),
    model: onnx('model'),
    slow: openAi('slow'),
    broken: onnx('broken'),
    blame: /tokenizer/,
    babbling: openAi('babbling'),
    crash: (id) => {
      kinds.onnx.crash(id);
      kinds.openai.crash(id);
    },
    processes: () => kinds.onnx.running + kinds.openai.running,
  };
});

describe('chat runtimes elsewhere', () => {
  let engine: ScriptedEngine;
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
  });
  afterAll(() => engine.close());

  bothContracts('engines that speak OpenAI', ({ babbling: _, ...limits }): ChatRuntimesUnderTest => {
    const patience = { atOnce: 1, probeTimeoutMs: 5_000, retryDelayMs: { first: 100, max: 400 } };
    const runtimes = new OpenAiChatRuntime({ ...limits, ...patience }, new SystemClock(), new RecordingLog());
    const source = (model: string, key: string | null = 'right') => openAi(model, engine.url, key);
    Object.assign(engine, { key: 'right', dead: false, script: wordy });
    const crash = async (id: string) => {
      engine.dead = true;
      engine.cut();
      while (runtimes.status(id).state === 'ready')
        await runtimes.complete(id, aRequest, 'usr_z', new AbortController().signal).catch(() => pause(1));
      engine.dead = false;
    };
    return {
      runtimes,
      model: source('model'),
      asked: 'What is the capital of France?',
      context: CONTEXT,
      slow: source('slow'),
      broken: source('model', 'wrong'),
      blame: /refused the key/,
      countsFirst: false,
      mend: () => {
        engine.key = 'wrong';
      },
      babbling: source('babbling'),
      crash: (id) => void crash(id),
      processes: () => ['a', 'b'].filter((id) => runtimes.status(id).state !== 'stopped').length,
    };
  });
});

const CONTEXT = 256;
const aRequest: ChatRequest = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: null, temperature: 0 };

/** An engine for which a word is a token. `slow` takes seconds, unless for a single token; `babbling` has no text. */
function wordy({ body }: Asked, response: ServerResponse): void {
  const { model, messages, max_tokens } = body;
  const prompt_tokens = messages.flatMap(({ content }: ChatMessage) => content.trim().split(/\s+/)).length;
  const words = 'The capital of France is Paris.'.split(' ').slice(0, max_tokens);
  const finish_reason = words.length < 6 ? 'length' : 'stop';
  const usage = { prompt_tokens, completion_tokens: words.length };
  const answer = completion(model, model === 'babbling' ? 42 : words.join(' '), { usage }, finish_reason);
  const fits = prompt_tokens + (max_tokens ?? 1) <= CONTEXT;
  const wait = setTimeout(
    () => send(response, fits ? 200 : 400, fits ? answer : { error: { code: 'context_length_exceeded' } }),
    model === 'slow' && fits && words.length > 1 ? 5_000 : 0,
  );
  response.once('close', () => clearTimeout(wait));
}
