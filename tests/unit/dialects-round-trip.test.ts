import type { Completion, CompletionPart } from '../../src/domain/chat/chat.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { OpenAiChatEngine } from '../../src/infrastructure/openai/openai-chat-engine.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { messageEvents, messageOf } from '../../src/interfaces/http/chat/anthropic/answer-mapper.js';
import { MessagesRequest } from '../../src/interfaces/http/chat/anthropic/messages-request.js';
import { chatRequestOf } from '../../src/interfaces/http/chat/anthropic/request-mapper.js';
import { textEvents } from '../../src/interfaces/http/chat/completions/answer-mapper.js';
import { CompletionRequest, textRequestOf } from '../../src/interfaces/http/chat/completions/completion-request.js';
import { verbatimJson } from '../../src/interfaces/http/chat/openai/answer-mapper.js';
import { Draw } from '../support/draw.js';
import { answers, schemas } from '../support/json-schemas.js';
import { RecordingLog } from '../support/recording-log.js';
import { chunk, completion } from '../support/scripted-engine.js';

const access = { queue: 1, timeoutMs: 1, schemas, answers, allowedHosts: [], keys: {} };
const engine = new OpenAiChatEngine(access, new SystemClock(), new RecordingLog());
const seeds = Array.from({ length: 500 }, (_, seed) => seed);
const plain = { logprobs: false, verbatim: null };
const verbatim = { logprobs: false, verbatim: { usage: false }, texts: true } as const;
/** A schema takes long to make. */
const schemaOf = {
  answer: engine.answer({ model: 'm' }, plain),
  chunk: engine.chunk({ model: 'm' }, plain),
  text: engine.answer({ model: 'm' }, verbatim),
  textChunk: engine.chunk({ model: 'm' }, verbatim),
};

/** A part of a request to Anthropic's API, and what an engine with OpenAI's API gets for it. */
type Pair = readonly [sent: JsonObject, arrived: JsonObject];

class MessagesDraw extends Draw {
  /** Draws some of the fields. */
  some(pairs: readonly Pair[]): Pair {
    const drawn = pairs.filter(() => this.below(2));
    return [
      Object.assign({}, ...drawn.map(([sent]) => sent)),
      Object.assign({}, ...drawn.map(([, arrived]) => arrived)),
    ];
  }

  text = () => this.oneOf(['Hi', 'é😀\u2028', '', '<|im_end|>', '{"a":1}']);

  texts(): [JsonObject[], JsonObject[]] {
    const texts = Array.from({ length: 2 + this.below(2) }, this.text);
    return [
      texts.map((text) => ({ type: 'text', text, x_own: this.json() })),
      texts.map((text) => ({ type: 'text', text })),
    ];
  }

  image(): Pair {
    const url = 'https://example.com/a.png';
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    return this.oneOf<Pair>([
      [
        { type: 'image', source: { type: 'url', url } },
        { type: 'image_url', image_url: { url } },
      ],
      [
        { type: 'image', source },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    ]);
  }

  /** Draws a message. Results of tools are messages of their own. */
  message(): [JsonObject, JsonObject[]] {
    const [sentTexts, arrivedTexts] = this.texts();
    const [sentImage, arrivedImage] = this.image();
    const text = this.text();
    const input = { city: this.json() };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(input) } };
    const use = { type: 'tool_use', id: 'c', name: 'f', input };
    const result = { type: 'tool_result', tool_use_id: 'c', content: sentTexts, is_error: false };
    const failure = { ...result, content: [sentImage, ...sentTexts], is_error: true };
    return this.oneOf<[JsonObject, JsonObject[]]>([
      [{ role: 'user', content: text }, [{ role: 'user', content: text }]],
      [{ role: 'user', content: sentTexts }, [{ role: 'user', content: arrivedTexts }]],
      [
        { role: 'user', content: [result, sentImage, ...sentTexts] },
        [
          { role: 'tool', content: arrivedTexts, tool_call_id: 'c' },
          { role: 'user', content: [arrivedImage, ...arrivedTexts] },
        ],
      ],
      [
        { role: 'user', content: [failure, { ...result, content: text, is_error: true }] },
        [
          {
            role: 'tool',
            content: [{ type: 'text', text: 'Error: ' }, arrivedImage, ...arrivedTexts],
            tool_call_id: 'c',
          },
          { role: 'tool', content: `Error: ${text}`, tool_call_id: 'c' },
        ],
      ],
      [
        { role: 'assistant', content: [{ type: 'thinking', thinking: text, signature: 's' }, ...sentTexts, use] },
        [{ role: 'assistant', content: arrivedTexts, tool_calls: [call], reasoning_content: text }],
      ],
      [{ role: 'assistant', content: [use, use] }, [{ role: 'assistant', content: null, tool_calls: [call, call] }]],
    ]);
  }

  tools(): Pair {
    const schema = { type: 'object', x: this.json() };
    const sent = {
      name: 'f',
      description: 'd',
      input_schema: schema,
      strict: true,
      cache_control: { type: 'ephemeral' },
    };
    const arrived = { type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } };
    const choices: readonly Pair[] = [
      [{}, {}],
      [
        { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        { tool_choice: 'auto', parallel_tool_calls: false },
      ],
      [{ tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
      [{ tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
      [{ tool_choice: { type: 'tool', name: 'f' } }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
    ];
    const [choice, chosen] = this.oneOf(choices);
    return [
      { tools: [sent], ...choice },
      { tools: [arrived], ...chosen },
    ];
  }

  request(): Pair {
    const own = this.json();
    const schema = { type: 'object', properties: { a: {} } };
    const format = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
    const max = 1 + this.below(9_999);
    const [sent, arrived] = this.some([
      [{ temperature: 0.5 }, { temperature: 0.5 }],
      [{ top_p: 0.25 }, { top_p: 0.25 }],
      [{ top_k: 7 }, { top_k: 7 }],
      [{ stop_sequences: ['a', ' b'] }, { stop: ['a', ' b'] }],
      [{ metadata: { user_id: 'u' } }, { user: 'u' }],
      [{ thinking: { type: 'enabled', budget_tokens: 9_000 } }, { reasoning_effort: 'medium' }],
      [{ output_config: { format: { type: 'json_schema', schema } } }, { response_format: format }],
      [{ x_own: own }, { x_own: own }],
      [{ cache_control: { type: 'ephemeral' }, service_tier: 'auto' }, {}],
      this.tools(),
    ]);
    const messages = Array.from({ length: 1 + this.below(4) }, () => this.message());
    const [system, systemArrived] = this.texts();
    const hasSystem = this.below(2) === 1;
    return [
      { ...sent, model: 'prj', max_tokens: max, ...(hasSystem && { system }), messages: messages.map(([one]) => one) },
      {
        ...arrived,
        model: 'm',
        max_tokens: max,
        stream: false,
        messages: [
          ...(hasSystem ? [{ role: 'system', content: systemArrived }] : []),
          ...messages.flatMap(([, ones]) => ones),
        ],
      },
    ];
  }

  /** Draws an answer of an engine: its message, and the blocks that the caller gets. */
  answer(): { readonly message: JsonObject; readonly blocks: JsonObject[]; readonly reason: string } {
    const [thought, text] = [this.oneOf(['', 'Hm.']), this.oneOf(['Yes.', 'é😀'])];
    const inputs = Array.from({ length: this.below(3) }, () => ({ city: this.json() }));
    const calls = inputs.map((input, i) => ({
      id: `c${i}`,
      type: 'function',
      function: { name: 'f', arguments: JSON.stringify(input) },
    }));
    return {
      message: {
        role: 'assistant',
        content: text,
        ...(thought !== '' && { reasoning_content: thought }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      blocks: [
        ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: '' }]),
        { type: 'text', text },
        ...inputs.map((input, i) => ({ type: 'tool_use', id: `c${i}`, name: 'f', input })),
      ],
      reason: calls.length > 0 ? 'tool_calls' : this.oneOf(['stop', 'length']),
    };
  }
}

const reasons: Record<string, string> = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' };
const usage = { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } };
const counted = { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 3 };

/** Joins the deltas of a stream to the blocks of its message. */
function blocksIn(text: string): JsonObject[] {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const [, data = ''] of text.matchAll(/^data: ([^\n]*)$/gm)) {
    const { type, index, content_block: begun, delta } = JSON.parse(data);
    if (type === 'content_block_start') blocks[index] = begun;
    if (type !== 'content_block_delta') continue;
    const block = blocks[index] as Record<string, unknown>;
    for (const field of ['text', 'thinking']) if (field in delta) block[field] = `${block[field]}${delta[field]}`;
    if ('partial_json' in delta) inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
  }
  return blocks.map((block, i) =>
    inputs.has(i) ? { ...block, input: JSON.parse(inputs.get(i) as string) } : block,
  ) as JsonObject[];
}

describe('between Anthropic’s API and an engine with OpenAI’s API,', () => {
  it('everything with an equivalent arrives in 500 random requests', () => {
    for (const seed of seeds) {
      const [sent, arrived] = new MessagesDraw(seed).request();
      const request = chatRequestOf(MessagesRequest.parse(sent));
      const { path, body } = engine.request(request, { model: 'm' }, false);
      expect(path).toBe('/chat/completions');
      expect(JSON.parse(JSON.stringify(body))).toEqual(arrived);
    }
  });

  it('500 random answers come back, whole and streamed', async () => {
    for (const seed of seeds) {
      const { message, blocks, reason } = new MessagesDraw(seed).answer();
      const whole = completion('m', null, { choices: [{ index: 0, message, finish_reason: reason }], usage });
      const read = schemaOf.answer.parse(whole) as Completion;
      const expected = { content: blocks, stop_reason: reasons[reason], usage: counted };
      expect(messageOf({ id: 'msg', model: 'asked', marksCache: true }, read)).toMatchObject(expected);
      const { content, reasoning_content: thought, tool_calls: calls } = message as Record<string, never>;
      const deltas = [
        ...(thought ? [{ reasoning_content: thought }] : []),
        ...[...String(content)].map((letter) => ({ content: letter })),
        ...((calls ?? []) as { function: { arguments: string } }[]).flatMap((call, index) => [
          { tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] },
          ...[...call.function.arguments].map((letter) => ({
            tool_calls: [{ index, function: { arguments: letter } }],
          })),
        ]),
      ];
      async function* parts(): AsyncGenerator<CompletionPart> {
        for (const delta of deltas) {
          const { finishReason: _, usage: _usage, ...part } = schemaOf.chunk.parse(chunk('m', delta));
          yield part;
        }
        yield { text: '', end: { finishReason: read.finishReason, usage: read.usage } };
      }
      let text = '';
      for await (const event of messageEvents(parts(), { id: 'msg', model: 'asked', marksCache: true })) text += event;
      expect(blocksIn(text)).toEqual(blocks);
      expect(text).toContain(`"stop_reason":"${reasons[reason]}"`);
    }
  });
});

const ofTexts =
  'prompt suffix max_tokens temperature top_p n logprobs echo stop presence_penalty frequency_penalty best_of logit_bias user seed top_k guided_regex prompt_embeds'.split(
    ' ',
  );
describe('between OpenAI’s API for texts and an engine with the same API,', () => {
  it('500 random requests stay as they are, except the model', () => {
    for (const seed of seeds) {
      const body = { ...new Draw(seed).fields(ofTexts), model: 'prj' };
      const { path, body: sent } = engine.request(textRequestOf(CompletionRequest.parse(body)), { model: 'm' }, false);
      expect(path).toBe('/completions');
      expect(JSON.parse(JSON.stringify(sent))).toEqual({ ...body, model: 'm' });
    }
  });

  it('500 random answers stay as they are, whole and streamed, except the model', async () => {
    for (const seed of seeds) {
      const draw = new Draw(seed);
      const choice = (index: number) => ({ ...draw.fields(['logprobs', 'stop_reason']), index, text: `t${index}` });
      const head = { ...draw.fields(['id', 'created', 'system_fingerprint']), object: 'text_completion', model: 'm' };
      const finish_reason = draw.oneOf(['stop', 'length', 'odd']);
      const answer = { ...head, choices: [{ ...choice(0), finish_reason }, choice(1)], usage: draw.json() };
      const read = schemaOf.text.parse(answer) as Completion;
      expect(JSON.parse(verbatimJson(read.verbatim as string, 'asked'))).toEqual({ ...answer, model: 'asked' });
      const chunks = [1, 0, 1, 0].map((index) => ({ ...head, choices: [choice(index)] }));
      async function* parts(): AsyncGenerator<CompletionPart> {
        for (const one of chunks) yield schemaOf.textChunk.parse(one) as CompletionPart;
        yield { text: '', end: { finishReason: 'stop', usage: null } };
      }
      const events: string[] = [];
      const about = { id: 'ours', created: 1, model: 'asked', includesUsage: false, beginning: () => 'never' };
      for await (const event of textEvents(parts(), about)) events.push(...event.trimEnd().split('\n\n'));
      expect(events.pop()).toBe('data: [DONE]');
      expect(events.map((event) => JSON.parse(event.slice(6)))).toEqual(
        chunks.map((one) => ({ ...one, model: 'asked' })),
      );
    }
  });
});
