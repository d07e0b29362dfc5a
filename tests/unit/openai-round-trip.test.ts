import type { CompletionPart } from '../../src/domain/chat/chat.js';
import { OpenAiChatEngine } from '../../src/infrastructure/openai/openai-chat-engine.js';
import { requestJson } from '../../src/infrastructure/openai/openai-request.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import {
  chatEvents,
  chatRequestOf,
  choiceOf,
  completionText,
} from '../../src/interfaces/http/chat/openai/openai-mapper.js';
import { OpenAiChatRequest } from '../../src/interfaces/http/chat/openai/openai-request.js';
import { answers, schemas } from '../support/json-schemas.js';
import { RecordingLog } from '../support/recording-log.js';
import { chunk, completion } from '../support/scripted-engine.js';

/** Returns what an engine with OpenAI's API gets for a request to OpenAI's API. */
const sentOn = (body: object) =>
  JSON.parse(JSON.stringify(requestJson(chatRequestOf(OpenAiChatRequest.parse({ model: 'm', ...body })), 'm', false)));

const user = { role: 'user', content: 'Hi' };
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };

const access = { queue: 1, timeoutMs: 1, schemas, answers, allowedHosts: [], keys: {} };
const engine = new OpenAiChatEngine(access, new SystemClock(), new RecordingLog());

describe('between OpenAI’s API and an engine with the same API,', () => {
  it.each<[string, object]>([
    ['parts', { type: 'text', text: 'x' }],
    ['an image', image],
    ['an image with its detail', { ...image, image_url: { ...image.image_url, detail: 'low' } }],
    ['an image with a mark for a cache', { ...image, cache_control: { type: 'ephemeral' } }],
    ['a sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
  ])('the content of a message stays as it is: %s', (_, part) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a' }, part, image], name: 'Ada' }];
    expect(sentOn({ messages }).messages).toEqual(messages);
  });

  it.each<[string, object]>([
    ['a call', call],
    ['a call with further fields', { ...call, index: 0, extra_content: { google: { thought_signature: 'x' } } }],
    ['a call with arguments as an object', { ...call, function: { name: 'f', arguments: { a: 1 } } }],
    ['a call of another type', { id: 'call_1', type: 'custom', custom: { name: 'f', input: 'x' } }],
    ['a call without an id', { type: 'function', function: { name: 'f', arguments: '' } }],
  ])('the tool calls of a message and of an answer stay as they are: %s', (_, one) => {
    const content = { content: null, tool_calls: [one, call] };
    const messages = [user, { role: 'assistant', ...content }, { role: 'tool', content: '1', tool_call_id: 'call_1' }];
    expect(sentOn({ messages }).messages).toEqual(messages);
    const answer = completion('m', null, { choices: [{ message: { role: 'assistant', ...content } }] });
    expect(choiceOf(engine.answer({ model: 'm' }, { logprobs: true }).parse(answer)).message).toMatchObject(content);
  });

  it('the log probabilities of an answer stay as they are', async () => {
    const token = { token: 'Hi', logprob: -0.5, bytes: [72, 105] };
    const logprobs = { content: [{ ...token, top_logprobs: [token] }], refusal: null };
    const choices = [{ message: { role: 'assistant', content: 'Hi' }, logprobs, finish_reason: 'stop' }];
    const answer = engine.answer({ model: 'm' }, { logprobs: true }).parse(completion('m', null, { choices }));
    let text = '';
    for await (const piece of completionText({ id: 'chatcmpl-1' }, answer)) text += piece;
    expect(JSON.parse(text)).toEqual({ id: 'chatcmpl-1', choices: [{ ...choiceOf(answer), logprobs }] });
  });

  it.each<[string, object]>([
    ['a first part', { index: 0, ...call }],
    ['a first part with further fields', { index: 0, ...call, extra_content: {} }],
    ['a further part', { index: 1, function: { arguments: '{"' } }],
    ['a further part that repeats the type', { index: 1, type: 'function', function: { arguments: '{"' } }],
    ['a part without an index', call],
    ['a part without arguments', { index: 0, id: 'call_1', type: 'function', function: { name: 'f' } }],
  ])('the tool calls of a stream stay as they are: %s', async (_, one) => {
    const {
      finishReason: _reason,
      usage: _usage,
      ...part
    } = engine.chunk({ model: 'm' }, { logprobs: true }).parse(chunk('m', { tool_calls: [one] }));
    const parts = async function* (): AsyncGenerator<CompletionPart> {
      yield part;
    };
    const head = { id: 'chatcmpl-1', created: 1, model: 'm', includesUsage: false };
    const events: string[] = [];
    for await (const event of chatEvents(parts(), head)) events.push(event);
    const [, data = ''] = events.join('').trim().split('\n\ndata: ');
    expect(JSON.parse(data).choices[0].delta).toEqual({ tool_calls: [one] });
  });

  it.each<[string, object, unknown]>([
    ['a tool', { type: 'function', function: { name: 'f' } }, 'auto'],
    [
      'a whole tool',
      { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: true } },
      'required',
    ],
    ['a mark for a cache', { type: 'function', function: { name: 'f' }, cache_control: {} }, 'none'],
    ['nulls', { type: 'function', function: { name: 'f', description: null, strict: null } }, 'auto'],
    ['further fields', { type: 'function', function: { name: 'f', returns: {} } }, { type: 'auto' }],
    ['a tool of the engine', { type: 'web_search' }, { type: 'function', function: { name: 'f' } }],
    ['no tool', {}, 'validated'],
  ])('the tools stay as they are: %s', (_, tool, tool_choice) => {
    const fields = { tools: [tool], tool_choice };
    expect(sentOn({ messages: [user], ...fields })).toMatchObject(fields);
  });

  it('the other fields stay as they are', () => {
    const fields = {
      max_tokens: 9,
      temperature: 1,
      top_p: 0.5,
      seed: 7,
      stop: ['x'],
      presence_penalty: 1,
      frequency_penalty: -1,
      logit_bias: { 7: 1 },
      logprobs: true,
      top_logprobs: 2,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
    };
    const messages = [user, { role: 'assistant', content: '', refusal: 'No.' }, user];
    expect(sentOn({ messages, ...fields })).toEqual({ model: 'm', messages, stream: false, ...fields });
  });
});
