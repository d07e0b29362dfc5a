import type { ChatEngine, ChatRuntime } from '../../../src/application/chat/ports.js';
import { type Span, type SpanAttributes, type SpanOptions, Tracer } from '../../../src/application/shared/ports.js';
import { RuntimeUnavailable } from '../../../src/domain/chat/errors.js';
import { ChatRuntimesByEngine } from '../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { GenAiTelemetry } from '../../../src/infrastructure/opentelemetry/gen-ai.js';
import { unlimited } from '../../support/records.js';

/** Keeps its spans for the tests. */
class KeepingTracer extends Tracer {
  readonly spans: { name: string; attributes: SpanAttributes; parts: string[]; ends: unknown[] }[] = [];

  start(name: string, { attributes = {} }: SpanOptions = {}): Span {
    const kept = { name, attributes, parts: [] as string[], ends: [] as unknown[] };
    this.spans.push(kept);
    return {
      isRecorded: true,
      run: (work) => work(),
      set: (more) => {
        kept.attributes = { ...kept.attributes, ...more };
      },
      add: (part) => kept.parts.push(part),
      end: (failure) => kept.ends.push(failure),
    };
  }

  headers = () => ({});
}

const request = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Who?'.repeat(10_000) },
  ],
  maxTokens: 9,
  temperature: 0.5,
  sampling: { topP: 0.9, seed: 7, stop: ['.'] },
} as const;
const usage = { promptTokens: 5, cachedTokens: 2, completionTokens: 3 };
const end = { finishReason: 'stop', usage } as const;
const failure = new RuntimeUnavailable('it is away');
const signal = new AbortController().signal;

const whole: Partial<ChatRuntime> = {
  complete: async (_request, { admitted }) => {
    admitted?.();
    return { text: 'Ada', ...end, timing: { firstTokenMs: 1, tookMs: 2 } };
  },
  async *stream(_request, { admitted }) {
    admitted?.();
    yield { text: 'A' };
    yield { text: 'da', end };
  },
  embed: async () => ({ vectors: [], promptTokens: 4 }),
};

function observed(runtime: Partial<ChatRuntime>, withContent = false) {
  const tracer = new KeepingTracer();
  const started = { ...runtime, status: { state: 'ready', reason: null }, start: () => undefined };
  const engine = { kind: 'onnx', create: () => started } as unknown as ChatEngine;
  const runtimes = new ChatRuntimesByEngine([engine], new GenAiTelemetry(tracer, withContent));
  runtimes.start('prj_1/mdl_1', { kind: 'onnx' });
  return { tracer, runtimes };
}

describe('the span of a call', () => {
  it('has the attributes of the conventions, and no content', async () => {
    const { tracer, runtimes } = observed(whole);
    await runtimes.complete('prj_1/mdl_1', request, { caller: 'usr_1', signal, memory: unlimited });
    for await (const _ of runtimes.stream('prj_1/mdl_1', request, { caller: 'usr_1', signal, memory: unlimited }));
    await runtimes.embed(
      'prj_1/mdl_1',
      { texts: ['secret'], dimensions: 8 },
      { caller: 'usr_1', signal, memory: unlimited },
    );
    const about = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'onnx',
      'gen_ai.request.model': 'prj_1',
      'tenon.model.id': 'mdl_1',
      'gen_ai.request.max_tokens': 9,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.seed': 7,
      'gen_ai.request.stop_sequences': ['.'],
      'gen_ai.output.type': 'text',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 2,
    };
    const [chat, stream, embed] = tracer.spans;
    expect(chat).toEqual({
      name: 'chat prj_1',
      attributes: about,
      parts: ['queue', 'prefill', 'decode'],
      ends: [undefined],
    });
    expect(stream).toEqual({ name: 'chat prj_1', attributes: about, parts: ['queue'], ends: [undefined] });
    expect(embed).toMatchObject({ name: 'embeddings prj_1', ends: [undefined] });
    expect(embed?.attributes).toEqual({
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.provider.name': 'onnx',
      'gen_ai.request.model': 'prj_1',
      'tenon.model.id': 'mdl_1',
      'gen_ai.embeddings.dimension.count': 8,
      'gen_ai.usage.input_tokens': 4,
    });
  });

  it('has the beginning of each text if the recording of content is enabled', async () => {
    const { tracer, runtimes } = observed(whole, true);
    for await (const _ of runtimes.stream('prj_1/mdl_1', request, { caller: 'usr_1', signal, memory: unlimited }));
    const { attributes } = tracer.spans[0] as KeepingTracer['spans'][number];
    const [system, user] = JSON.parse(String(attributes['gen_ai.input.messages']));
    expect(system).toEqual({ role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] });
    expect(user.parts[0].content).toBe('Who?'.repeat(2_048));
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Ada' }], finish_reason: 'stop' },
    ]);
  });

  it('ends once: after a failure in the queue or later, or when the caller leaves', async () => {
    const { tracer, runtimes } = observed({
      complete: () => Promise.reject(failure),
      // biome-ignore lint/correctness/useYield: it fails at once
      async *stream(_request, { admitted }) {
        admitted?.();
        throw failure;
      },
      embed: () => Promise.reject(failure),
    });
    await expect(
      runtimes.complete('prj_1/mdl_1', request, { caller: 'usr_1', signal, memory: unlimited }),
    ).rejects.toBe(failure);
    await expect(
      runtimes.embed('prj_1/mdl_1', { texts: ['a'] }, { caller: 'usr_1', signal, memory: unlimited }),
    ).rejects.toBe(failure);
    const streamed = async (one: ChatRuntimesByEngine) => {
      for await (const _ of one.stream('prj_1/mdl_1', request, { caller: 'usr_1', signal, memory: unlimited })) return;
    };
    await expect(streamed(runtimes)).rejects.toBe(failure);
    expect(tracer.spans.map(({ parts, ends }) => [parts, ends])).toEqual([
      [['queue'], [failure]],
      [['queue'], [failure]],
      [['queue'], [failure]],
    ]);
    const left = observed(whole);
    await streamed(left.runtimes);
    expect(left.tracer.spans[0]?.ends).toEqual(['cancelled']);
  });
});
