import type {
  ChatRequest,
  Completion,
  CompletionPart,
  RequestMessage,
  Sampling,
} from '../../../src/domain/chat/chat.js';
import { UnsupportedParameter } from '../../../src/domain/chat/errors.js';
import { nameOf } from '../../../src/domain/chat/request-field.js';
import type { RuntimeSource } from '../../../src/domain/chat/runtime.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';
import { endless } from '../../support/onnx/model-folders.js';

/** An engine may ignore `passedOn` and `leaveOutOldest`. */
type Field = keyof (Omit<ChatRequest, 'messages' | 'sampling' | 'passedOn' | 'leaveOutOldest'> &
  RequestMessage &
  Sampling);

export interface ListeningRuntimes extends ChatRuntimesUnderTest {
  /** A model that shows the effect of each field. */
  readonly listening: RuntimeSource;
  /** Returns what shows the effect of the latest request: for example what the engine got, or its answer. */
  effect(answer: Completion): unknown;
  /** The sampling that makes answers repeatable at any temperature. Empty if `effect` does not show the answer. */
  readonly steady: Sampling;
}

const CONTEXT = 256;

/** Makes two requests for each field that differ only in this field. A new field needs an entry here. */
const requestsWith = (steady: Sampling): Record<Field, readonly [Partial<ChatRequest>, Partial<ChatRequest>]> => {
  const drawn = (one: Sampling, other: Sampling) => sampled(one, other, { temperature: 2 });
  const sampled = (one: Sampling, other: Sampling, about: Partial<ChatRequest> = {}) =>
    [
      { ...about, sampling: { ...one, ...steady } },
      { ...about, sampling: { ...other, ...steady } },
    ] as const;
  const messages = (one: Partial<RequestMessage>, other: Partial<RequestMessage>, role: RequestMessage['role']) =>
    [one, other].map((about) => {
      const message = { role, content: 'Who are you?', ...about };
      return { messages: [message, { role: 'user', content: 'Hi' }] } satisfies Partial<ChatRequest>;
    }) as unknown as readonly [Partial<ChatRequest>, Partial<ChatRequest>];
  const callOf = (name: string) => ({ id: 'call_1', name, arguments: '{"city":"Paris"}' });
  const toolOf = (name: string) => ({
    name,
    description: 'Tells the weather.',
    parameters: { type: 'object' },
    strict: true,
  });
  const schemaOf = (type: string) => ({ json: 'schema', name: 'answer', schema: { type }, strict: false }) as const;
  const verbatim = (content: string) => ({
    verbatim: {
      dialect: 'openai',
      json: { messages: [{ role: 'user', content }] },
      wantsUsage: true,
      requireUnderstood: () => {
        throw new UnsupportedParameter('verbatim', 'is not supported');
      },
    },
  });
  return {
    role: messages({ role: 'user' }, { role: 'assistant' }, 'user'),
    content: messages({}, { content: 'What is the capital of France?' }, 'user'),
    parts: messages({ parts: [{ imageUrl: 'data:a' }] }, { parts: [{ imageUrl: 'data:b' }] }, 'user'),
    name: messages({ name: 'Ada' }, { name: 'Ada Lovelace' }, 'user'),
    toolCalls: messages(
      { parts: [], toolCalls: [callOf('weather')] },
      { parts: [], toolCalls: [callOf('the_weather_there')] },
      'assistant',
    ),
    toolCallId: messages({ toolCallId: 'call_1' }, { toolCallId: 'call_number_2' }, 'tool'),
    refusal: messages({ refusal: 'No.' }, { refusal: 'I do not want to.' }, 'assistant'),
    reasoning: messages({ reasoning: 'A question.' }, { reasoning: 'What is this about?' }, 'assistant'),
    maxTokens: [{ maxTokens: 1 }, { maxTokens: 2 }],
    cutToContext: [true, false].map((cutToContext) => ({ maxTokens: CONTEXT, cutToContext })) as never,
    temperature: [0, 2].map((temperature) => ({ temperature, sampling: steady })) as never,
    tools: [{ tools: [toolOf('weather')] }, { tools: [toolOf('the_time')] }],
    toolChoice: [
      { toolChoice: { tool: 'weather' }, tools: [toolOf('weather')] },
      { toolChoice: 'none', tools: [toolOf('weather')] },
    ],
    parallelToolCalls: [true, false].map((parallelToolCalls) => {
      const about = { toolChoice: 'required', tools: [{ name: 'stop' }], maxTokens: 150, sampling: endless };
      return { parallelToolCalls, ...about };
    }) as never,
    reasoningEffort: [{ reasoningEffort: 'low' }, { reasoningEffort: 'high' }],
    responseFormat: [{ responseFormat: schemaOf('number') }, { responseFormat: schemaOf('array') }],
    topP: drawn({ topP: 0 }, { topP: 1 }),
    topK: drawn({ topK: 1 }, { topK: 1_000 }),
    minP: drawn({ minP: 1 }, { minP: 0 }),
    repetitionPenalty: sampled({ repetitionPenalty: 0.1 }, { repetitionPenalty: 5 }),
    templateFields: [{ templateFields: { tone: 'Be kind.' } }, { templateFields: { tone: 'Answer loudly!' } }],
    seed: [1, 2].map((seed) => ({ temperature: 2, sampling: { seed } })) as never,
    stop: sampled({ stop: ['a'] }, { stop: ['e'] }),
    presencePenalty: sampled({ presencePenalty: -2 }, { presencePenalty: 2 }),
    frequencyPenalty: sampled({ frequencyPenalty: -2 }, { frequencyPenalty: 2 }),
    logitBias: sampled({ logitBias: { 300: 100 } }, { logitBias: { 301: 100 } }),
    topLogprobs: sampled({ topLogprobs: 1 }, { topLogprobs: 3 }),
    unknown: [{ unknown: { unknown: 'one' } }, { unknown: { unknown: 'other' } }],
    texts: [
      { messages: [], texts: ['One'] },
      { messages: [], texts: ['Two and three'] },
    ],
    choices: [{ choices: 2 }, { choices: 3 }],
    verbatim: [verbatim('Hi'), verbatim('Who are you?')],
  };
};

/** Tests that runtimes honour each field of a request, or refuse it. */
export function chatFieldsContract(adapter: string, open: (limits: ChatRuntimesLimits) => ListeningRuntimes) {
  describe(`Fields of requests to ChatRuntimes, run by ${adapter},`, () => {
    let rig: ListeningRuntimes;
    const { ask, take, started } = callsTo(() => rig);
    beforeAll(() => {
      rig = open({ queue: 4, timeoutMs: 60_000, babbling: false });
      return started(rig.listening);
    });
    afterAll(() => rig.runtimes.close());

    const ways: Record<string, (request: Partial<ChatRequest>) => Promise<Completion>> = {
      'a whole answer': ask,
      'an answer in parts': async (request) => joined(await take(request).all()),
    };

    describe.each(Object.keys(ways))('for %s', (way) => {
      /** Returns the effect of a request, or its refusal, or the path of the field that is refused. */
      const effectOf = async (request: Partial<ChatRequest>): Promise<{ effect: unknown; refused?: string }> => {
        try {
          const answer = await ways[way]?.({ maxTokens: 24, ...request });
          return { effect: rig.effect(answer as Completion) };
        } catch (error) {
          const { code, advice } = error as { code: string; advice?: { details?: readonly { path: string }[] } };
          const isRefused = /^(unsupported_parameter|unknown_parameter|invalid_request)$/.test(code);
          return { effect: code, ...(isRefused && { refused: String(advice?.details?.[0]?.path) }) };
        }
      };

      it.each(Object.keys(requestsWith({})) as Field[])('honours or refuses %s', async (field) => {
        const [one, other] = requestsWith(rig.steady)[field];
        const effects = [await effectOf(one), await effectOf(other)] as const;
        if (effects.every(({ refused }) => refused !== undefined))
          for (const { refused } of effects)
            expect(refused).toMatch(new RegExp(`^(messages\\[0\\]\\.)?${nameOf(field)}$`));
        else {
          expect(effects.map(({ refused }) => refused)).toEqual([undefined, undefined]);
          expect(effects[0].effect).not.toEqual(effects[1].effect);
        }
      });
    });
  });
}

function joined(parts: readonly CompletionPart[]): Completion {
  const { end } = parts.at(-1) ?? {};
  if (!end) throw new Error('the answer has no end');
  const logprobs = parts.flatMap((part) => part.logprobs ?? []);
  const calls = parts.flatMap((part) => part.toolCalls ?? []);
  return {
    text: parts.map(({ text }) => text).join('') + calls.map((call) => (call.name ?? '') + call.arguments).join(''),
    ...(logprobs.length > 0 && { logprobs }),
    ...end,
  };
}
