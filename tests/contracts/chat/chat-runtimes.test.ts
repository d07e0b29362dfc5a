import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { RuntimeTask } from '../../../src/domain/chat/runtime.js';
import { ChatRuntimesByEngine } from '../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import type { HttpSource } from '../../../src/infrastructure/http-engine/engine-spec.js';
import type {
  HttpChatEngine,
  HttpChatEngineSettings,
} from '../../../src/infrastructure/http-engine/http-chat-engine.js';
import type { OnnxSource } from '../../../src/infrastructure/onnx-chat/chat-process.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { GenAiTelemetry } from '../../../src/infrastructure/opentelemetry/gen-ai.js';
import { NoTracer, SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { MemoryChatRuntimes, type MemorySource } from '../../fakes/chat/memory-chat-runtimes.js';
import type { ChatRuntimesLimits } from '../../support/chat-runtimes-rig.js';
import { answers, schemas } from '../../support/json-schemas.js';
import { sendJson } from '../../support/local-server.js';
import { ChildRuntimesRig, oddWorker } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyEmbed, withFields, withoutEnd } from '../../support/onnx/model-folders.js';
import { RecordingLog } from '../../support/recording-log.js';
import { unlimited } from '../../support/records.js';
import { type Asked, chunksOf, completion, ScriptedEngine, sendEvents } from '../../support/scripted-engine.js';
import { chatAnswersContract } from './chat-answers.contract.js';
import { chatEmbeddingsContract, type EmbeddingRuntimesUnderTest } from './chat-embeddings.contract.js';
import { chatFieldsContract, type ListeningRuntimes } from './chat-fields.contract.js';
import { chatRuntimesContract } from './chat-runtimes.contract.js';
import { chatStreamsContract } from './chat-streams.contract.js';
import { ParrotChatEngine } from './parrot-chat-engine.js';

const onnx = (folder: string): OnnxSource => ({ kind: 'onnx', folder });
const inMemorySource = (model: string): MemorySource => ({ kind: 'memory', model });

function allContracts(...about: Parameters<typeof chatFieldsContract>): void {
  chatRuntimesContract(...about);
  chatAnswersContract(...about);
  chatStreamsContract(...about);
  chatFieldsContract(...about);
}

describe('chat runtimes', () => {
  const folders = new ModelFolders();
  const [model, slow] = [folders.toy(), folders.toy({ idleRounds: 10_000 }, withoutEnd)];
  /** The template shows every field of a message, and the names of tools, to the model. Its answers do not end. */
  const listening = folders.like({
    ...withoutEnd,
    'config.json': withFields({ eos_token_id: null, max_position_embeddings: 256 }),
    'tokenizer_config.json': withFields({
      eos_token: null,
      chat_template:
        '{{ messages | tojson }}{{ tone }}' +
        '{% if reasoning_effort %}<|im_start|>user\nSay: {{ reasoning_effort }}<|im_end|>\n<|im_start|>assistant\n{% endif %}' +
        '{% if tools %}{% for tool in tools %}{{ tool.function.name }}{% endfor %}{% endif %}' +
        '{% for m in messages %}{% if m.tool_calls %}{% for call in m.tool_calls %}<tool_call>{"name": ' +
        '"{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>' +
        '{% endfor %}{% endif %}{% endfor %}',
    }),
  });
  afterAll(() => folders.remove());

  const childProcesses = ({
    babbling,
    ...limits
  }: ChatRuntimesLimits): EmbeddingRuntimesUnderTest & ListeningRuntimes => {
    const rig = new ChildRuntimesRig({ ...limits, ...(babbling && { worker: oddWorker }) });
    const broken = folders.toy({}, { 'tokenizer.json': null });
    return {
      runtimes: rig.runtimes,
      model: onnx(model),
      asked: 'Count to 6.', // the toy answers in eight tokens
      context: 2_048,
      slow: onnx(slow),
      broken: onnx(broken),
      blame: /tokenizer/,
      countsFirst: true,
      streams: true,
      mend: () => folders.copy('tokenizer.json', broken),
      babbling: onnx('/models/babbling'),
      crash: (id) => rig.kill(id),
      processes: () => rig.processes().length,
      embedding: onnx(tinyEmbed),
      chatting: onnx(model),
      listening: onnx(listening),
      effect: ({ timing: _, ...answer }) => answer,
      steady: { seed: 7 },
    };
  };
  allContracts('child processes', childProcesses);
  chatEmbeddingsContract('child processes', childProcesses);
});

const inMemory = ({ babbling: _, ...limits }: ChatRuntimesLimits): EmbeddingRuntimesUnderTest & ListeningRuntimes => {
  const load = () => pause(20);
  let mended = false;
  let heard: ChatRequest | undefined;
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
    embedding: { load, embed: () => undefined },
    listening: {
      load,
      answer: (request: ChatRequest) => {
        heard = request;
        return 'Yes.';
      },
    },
  };
  const runtimes = new MemoryChatRuntimes(models, { context: 256, restartMs: 20, ...limits });
  return {
    runtimes,
    model: inMemorySource('model'),
    asked: 'What is the capital of France?',
    context: 256,
    slow: inMemorySource('slow'),
    broken: inMemorySource('broken'),
    blame: /tokenizer/,
    countsFirst: true,
    streams: false,
    mend: () => {
      mended = true;
    },
    babbling: inMemorySource('babbling'),
    crash: (id) => runtimes.crash(id),
    processes: () => runtimes.running,
    embedding: inMemorySource('embedding'),
    chatting: inMemorySource('model'),
    listening: inMemorySource('listening'),
    effect: () => heard,
    steady: {},
  };
};
allContracts('memory', inMemory);
chatEmbeddingsContract('memory', inMemory);

describe('chat engines elsewhere', () => {
  let engine: ScriptedEngine;
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
  });
  afterAll(() => engine.close());

  type Limits = ChatRuntimesLimits & HttpChatEngineSettings;

  /** Telemetry must not change any answer. */
  const telemetry = new GenAiTelemetry(new NoTracer(), true);

  /** Runs the contract suites on an engine with the key `right` and the models `model`, `slow` and `babbling`. */
  function engineContracts<Model>(
    name: string,
    { streams, embeds = false, ...about }: Partial<ScriptedEngine> & { streams: boolean; embeds?: boolean },
    make: (settings: Limits) => HttpChatEngine<Model>,
    named: (name: string) => Model,
    contracts = allContracts,
  ): void {
    const elsewhere = (limits: ChatRuntimesLimits): EmbeddingRuntimesUnderTest & ListeningRuntimes => {
      const waits = { maxConcurrent: 1, probeTimeoutMs: 5_000, retryDelayMs: { first: 100, max: 400 } };
      const adapter = make({ ...limits, ...waits, schemas, answers, allowedHosts: [], keys: {} });
      const runtimes = new ChatRuntimesByEngine([adapter], telemetry);
      const source = (model: string, key = 'right', task?: RuntimeTask): HttpSource<Model> => {
        return { kind: adapter.kind, baseUrl: engine.url, key, model: named(model), ...(task && { task }) };
      };
      Object.assign(engine, { key: 'right', dead: false, ...about });
      const crash = async (id: string) => {
        engine.dead = true;
        engine.cut();
        while (runtimes.status(id).state === 'ready')
          await runtimes
            .complete(id, aRequest, { caller: 'usr_z', signal: new AbortController().signal, memory: unlimited })
            .catch(() => pause(1));
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
        streams,
        mend: () => {
          engine.key = 'wrong';
        },
        babbling: source('babbling'),
        crash: (id) => void crash(id),
        processes: () => ['a', 'b'].filter((id) => runtimes.status(id).state !== 'stopped').length,
        embedding: source('embedding', 'right', 'embedding'),
        chatting: source('model', 'right', 'chat'),
        listening: source('model'),
        effect: () => engine.asked.at(-1)?.body,
        steady: {},
      };
    };
    contracts(name, elsewhere);
    if (embeds) chatEmbeddingsContract(name, elsewhere);
  }

  engineContracts(
    'engines with the API of OpenAI',
    { streams: true, embeds: true, script: openAi },
    (settings) => new OpenAiChatEngine(settings, new SystemClock(), new RecordingLog()),
    (model) => ({ model }),
  );
  const aboutParrot: Partial<ScriptedEngine> & { streams: boolean } = {
    streams: true,
    script: parrot,
    paths: { chat: '/say', probe: '/awake' },
    keyOf: (headers) => headers['x-cracker'],
  };
  engineContracts(
    'the engine of the recipe',
    aboutParrot,
    (settings) => new ParrotChatEngine(settings, new SystemClock(), new RecordingLog()),
    (parrot) => ({ parrot }),
  );
  engineContracts(
    'the engine of the recipe, if it gives only whole answers,',
    { ...aboutParrot, streams: false },
    (settings) => {
      const engine = new ParrotChatEngine(settings, new SystemClock(), new RecordingLog());
      return Object.assign(engine, { chunk: undefined });
    },
    (parrot) => ({ parrot }),
    (name, open) => chatStreamsContract(name, open),
  );
});

const CONTEXT = 256;
const aRequest: ChatRequest = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: null, temperature: 0 };

/** Makes the answer of a scripted engine. A word is a token. `slow` takes five seconds, unless it says one word. */
function answerOf(model: string, messages: readonly { content: unknown }[], limit: number | undefined | null) {
  const heard = messages.flatMap(({ content }) => JSON.stringify(content).split(/\s+\b/)).length;
  const words = 'The capital of France is Paris.'.split(' ').slice(0, limit ?? undefined);
  const fits = heard + (limit ?? 1) <= CONTEXT;
  const takesMs = model === 'slow' && fits && words.length > 1 ? 5_000 : 0;
  return { heard, words, fits, takesMs, cut: words.length < 6 };
}

/** Runs `work` after `ms`, unless the caller leaves before. */
function after(ms: number, response: ServerResponse, work: () => void): void {
  const wait = setTimeout(work, ms);
  response.once('close', () => clearTimeout(wait));
}

function embeddings({ model, input }: { model: string; input: string[] }, response: ServerResponse): void {
  const counts = input.map((text) => text.trim().split(/\s+/).length);
  if (Math.max(...counts) > CONTEXT) {
    sendJson(response, 400, { error: { code: 'context_length_exceeded' } });
    return;
  }
  const data = counts.map((count, index) => ({ object: 'embedding', index, embedding: [count, 1] })).reverse();
  const usage = { prompt_tokens: counts.reduce((sum, one) => sum + one, 0), total_tokens: 0 };
  sendJson(response, 200, { object: 'list', model, data, usage });
}

function openAi({ body }: Asked, response: ServerResponse): void {
  if (body.input) {
    embeddings(body, response);
    return;
  }
  const { model, messages, max_tokens, stream } = body;
  const { heard, words, fits, takesMs, cut } = answerOf(model, messages, max_tokens);
  const usage = { prompt_tokens: heard, completion_tokens: words.length };
  const reason = cut ? 'length' : 'stop';
  if (!fits) sendJson(response, 400, { error: { code: 'context_length_exceeded' } });
  else if (stream) {
    const object = model === 'babbling' ? 'text' : 'chat.completion.chunk';
    const [role, first, ...rest] = chunksOf(model, words.join(' '), { usage }, reason);
    sendEvents(response, role, { ...(first as object), object });
    after(takesMs, response, () => {
      sendEvents(response, ...rest);
      response.end();
    });
  } else {
    const text = model === 'babbling' ? 42 : words.join(' ');
    after(takesMs, response, () => sendJson(response, 200, completion(model, text, { usage }, reason)));
  }
}

function parrot({ body }: Asked, response: ServerResponse): void {
  const messages = body.said.map(({ text }: { text: string }) => ({ content: text }));
  const { heard, words, fits, takesMs, cut } = answerOf(body.parrot, messages, body.words);
  const end = { cut, heard, said: words.length };
  const [first, ...rest] = words.join(' ').split(/(?= )/);
  const line = (says: unknown, more = {}) => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    response.write(`${JSON.stringify({ says: body.parrot === 'babbling' ? 42 : says, ...more })}\n`);
  };
  if (!fits) sendJson(response, 400, 'too many words');
  else if (body.stream) {
    line(first);
    after(takesMs, response, () => {
      for (const word of rest) line(word);
      line('', { end });
      response.end();
    });
  } else {
    const says = body.parrot === 'babbling' ? 42 : words.join(' ');
    after(takesMs, response, () => sendJson(response, 200, { says, end }));
  }
}

it('CONTRIBUTING.md shows the code of parrot-chat-engine.ts', () => {
  const [, ...code] = readFileSync(join(__dirname, 'parrot-chat-engine.ts'), 'utf8').trim().split('\n');
  const shown = code
    .join('\n')
    .replaceAll("'../../../src/infrastructure/", "'../")
    .replaceAll("'../../../src/", "'../../");
  const page = readFileSync(join(process.cwd(), 'CONTRIBUTING.md'), 'utf8');
  expect(page).toContain(shown);
});
