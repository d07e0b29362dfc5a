import type { Completion, CompletionPart } from '../../src/domain/chat/chat.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { OpenAiChatEngine } from '../../src/infrastructure/openai/openai-chat-engine.js';
import { requestJson } from '../../src/infrastructure/openai/openai-request.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { chatEvents, verbatimJson } from '../../src/interfaces/http/chat/openai/answer-mapper.js';
import { OpenAiChatRequest } from '../../src/interfaces/http/chat/openai/openai-request.js';
import { chatRequestOf } from '../../src/interfaces/http/chat/openai/request-mapper.js';
import { Draw } from '../support/draw.js';
import { answers, schemas } from '../support/json-schemas.js';
import { RecordingLog } from '../support/recording-log.js';
import { chunk, completion } from '../support/scripted-engine.js';

const access = { queue: 1, timeoutMs: 1, schemas, answers, allowedHosts: [], keys: {} };
const engine = new OpenAiChatEngine(access, new SystemClock(), new RecordingLog());

/** Returns what an engine with OpenAI's API gets for a request to OpenAI's API. */
const sentOn = (body: object, stream = false) =>
  JSON.parse(JSON.stringify(requestJson(chatRequestOf(OpenAiChatRequest.parse(body)), 'm', stream)));

/** Returns the answer that a caller gets for an answer of the engine. */
const answered = (answer: object) => {
  const read = engine.answer({ model: 'm' }, { logprobs: false, verbatim: { usage: false } }).parse(answer);
  return JSON.parse(verbatimJson((read as Completion).verbatim as string, 'asked'));
};

/** Returns the events that a caller gets for chunks of the engine. */
async function events(chunks: readonly object[], usage: boolean) {
  const schema = engine.chunk({ model: 'm' }, { logprobs: false, verbatim: { usage } });
  async function* parts(): AsyncGenerator<CompletionPart> {
    for (const one of chunks) {
      const { finishReason: _, usage: _usage, ...part } = schema.parse(one);
      if (part.verbatim !== undefined) yield part;
    }
    yield { text: '', end: { finishReason: 'stop', usage: null } };
  }
  const sent: string[] = [];
  const head = { id: 'chatcmpl-ours', created: 1, model: 'asked', includesUsage: usage };
  for await (const event of chatEvents(parts(), head)) sent.push(event);
  const data = sent.join('').trimEnd().split('\n\n');
  expect(data.pop()).toBe('data: [DONE]');
  return data.map((line) => JSON.parse(line.slice('data: '.length)));
}

const ofRequests =
  'max_tokens max_completion_tokens temperature top_p seed stop presence_penalty frequency_penalty logit_bias logprobs top_logprobs n tools tool_choice parallel_tool_calls functions function_call response_format reasoning_effort top_k min_p chat_template_kwargs guided_json modalities audio prediction user store metadata'.split(
    ' ',
  );
const ofMessages = 'content name tool_calls tool_call_id refusal reasoning_content audio annotations'.split(' ');
const ofChoices = 'logprobs stop_reason token_ids content_filter_results'.split(' ');
const ofAnswers = 'id created system_fingerprint service_tier prompt_logprobs'.split(' ');

const bodyOf = (draw: Draw): JsonObject => ({
  ...draw.fields(ofRequests),
  model: 'prj',
  messages: Array.from({ length: 1 + draw.below(4) }, () => ({
    ...draw.fields(ofMessages),
    role: draw.oneOf(['system', 'user', 'assistant', 'tool', 'developer', 'critic']),
  })),
});

const seeds = Array.from({ length: 500 }, (_, seed) => seed);

describe('between OpenAI’s API and an engine with the same API,', () => {
  it('500 random requests stay as they are, except the model', () => {
    for (const seed of seeds) {
      const body = bodyOf(new Draw(seed));
      expect(sentOn(body)).toEqual({ ...body, model: 'm' });
    }
  });

  it.each<[string, object, object]>([
    ['without options', {}, { include_usage: true }],
    ['with null', { stream_options: null }, { include_usage: true }],
    ['with others', { stream_options: { x: 1, include_usage: false } }, { x: 1, include_usage: true }],
  ])('a stream is asked for its usage: %s', (_, over, stream_options) => {
    const body = { model: 'prj', messages: [{ role: 'user', content: 'Hi' }], stream: true, ...over };
    expect(sentOn(body, true)).toEqual({ ...body, model: 'm', stream_options });
  });

  it('500 random answers stay as they are, except the model', () => {
    for (const seed of seeds) {
      const draw = new Draw(seed);
      const message = { ...draw.fields(ofMessages), role: 'assistant' };
      const reason = draw.oneOf(['stop', 'length', 'tool_calls', 'content_filter', 'odd']);
      const choice = { ...draw.fields(ofChoices), message, finish_reason: reason };
      const usage = draw.json();
      const choices = [choice, ...(draw.below(2) ? [draw.json()] : [])];
      const answer = completion('m', null, { ...draw.fields(ofAnswers), choices, usage });
      expect(answered(answer)).toEqual({ ...answer, model: 'asked' });
    }
  });

  it('the chunks of 500 random streams stay as they are, except the model and a usage that was not asked for', async () => {
    for (const seed of seeds) {
      const draw = new Draw(seed);
      const chunks = Array.from({ length: 4 }, () => {
        const choice = { ...draw.fields(ofChoices), delta: draw.fields(ofMessages), finish_reason: null };
        const choices = [choice, ...(draw.below(3) ? [] : [{ ...choice, index: 1 }])];
        return chunk('m', {}, null, { ...draw.fields(ofAnswers), choices, usage: null });
      });
      const usage = { prompt_tokens: 1, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } };
      const sent = [...chunks, chunk('m', null, null, { usage })];
      const named = sent.map((one) => ({ ...one, model: 'asked' }));
      expect(await events(sent, true)).toEqual(named);
      expect(await events(sent, false)).toEqual(named.slice(0, -1).map((one) => ({ ...one, usage: undefined })));
    }
  });
});
