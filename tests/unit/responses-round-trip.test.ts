import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResponseStep } from '../../src/application/chat/response-reader.js';
import { AnswerAssembly, type ResponsePart } from '../../src/domain/chat/answer-assembly.js';
import type { CompletionPart } from '../../src/domain/chat/chat.js';
import type { Response } from '../../src/domain/chat/response.js';
import { ResumedAnswer } from '../../src/domain/chat/resumed-answer.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { requestJson } from '../../src/infrastructure/openai/openai-request.js';
import { inputItems, messagesOf } from '../../src/interfaces/http/chat/responses/items.js';
import { chatRequestOf } from '../../src/interfaces/http/chat/responses/request-mapper.js';
import { ResponseEvents } from '../../src/interfaces/http/chat/responses/response-events.js';
import { ResponsesRequest } from '../../src/interfaces/http/chat/responses/responses-request.js';
import { Draw } from '../support/draw.js';

/** Returns what an engine with OpenAI's chat API gets for a request to the Responses API. */
const sentOn = (body: object) =>
  JSON.parse(JSON.stringify(requestJson(chatRequestOf(ResponsesRequest.parse(body), new Map()), 'm', false)));

/** Names the fields with the same name and meaning in both APIs. */
const same =
  'temperature top_p seed stop presence_penalty frequency_penalty top_k min_p repetition_penalty user safety_identifier prompt_cache_key prompt_cache_options service_tier x_own guided_json'.split(
    ' ',
  );
const valuesOf: Readonly<Record<string, JsonObject[string]>> = {
  ...{ temperature: 0.5, top_p: 0, seed: 7, stop: ['\n'], presence_penalty: -1, frequency_penalty: 2, top_k: 3 },
  ...{ min_p: 0.1, repetition_penalty: 1.1, user: 'me', safety_identifier: 's', prompt_cache_key: 'k' },
  ...{
    service_tier: 'flex',
    prompt_cache_options: { mode: 'auto' },
    x_own: [null, { a: 1 }],
    guided_json: { type: 'object' },
  },
};

/** Draws items, and the messages of the chat API that have the same meaning. */
function itemsOf(draw: Draw): { items: object[]; messages: object[] } {
  const [items, messages]: [object[], object[]] = [[], []];
  for (let turn = 0; turn <= draw.below(4); turn++) {
    const text = draw.oneOf(['', 'Hi', 'é😀\u2028', '{"a":1}']);
    const role = draw.oneOf(['user', 'developer', 'system']);
    if (draw.below(2)) items.push({ type: 'message', role, content: text });
    else items.push({ role, content: [{ type: 'input_text', text }] });
    messages.push({ role: role === 'developer' ? 'system' : role, content: text });
    if (draw.below(3) === 0) {
      const url = 'data:image/png;base64,AA==';
      const detail = draw.oneOf([{}, { detail: 'high' }]);
      items.push({
        role: 'user',
        content: [
          { type: 'input_image', image_url: url, ...detail },
          { type: 'input_text', text },
        ],
      });
      const parts = [
        { type: 'image_url', image_url: { url, ...detail } },
        { type: 'text', text },
      ];
      messages.push({ role: 'user', content: parts });
    }
    const [thinks, speaks, calls] = [draw.below(2), draw.below(2), draw.below(3)];
    if (speaks + calls === 0) continue;
    if (thinks) items.push({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] });
    if (speaks) items.push({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] });
    const named = Array.from({ length: calls }, (_, n) => ({ id: `call_${turn}_${n}`, name: 'f', arguments: '{}' }));
    for (const { id, ...call } of named) items.push({ type: 'function_call', call_id: id, ...call });
    messages.push({
      ...{ role: 'assistant', content: speaks ? 'So.' : null },
      ...(calls && { tool_calls: named.map(({ id, ...call }) => ({ id, type: 'function', function: call })) }),
      ...(thinks && { reasoning_content: 'Hm.' }),
    });
    for (const { id } of named) {
      items.push({ type: 'function_call_output', call_id: id, output: text });
      messages.push({ role: 'tool', content: text, tool_call_id: id });
    }
  }
  return { items, messages };
}

const schema = { type: 'object', properties: { city: { type: 'string' } } };

describe('the dialect of the Responses API', () => {
  it('sends everything of 500 random requests that has an equivalent to an engine with OpenAI’s chat API', () => {
    for (let seed = 0; seed < 500; seed++) {
      const draw = new Draw(seed);
      const { items, messages } = itemsOf(draw);
      const fields = Object.fromEntries(
        same.filter(() => draw.below(3) === 0).map((name) => [name, valuesOf[name]]),
      ) as JsonObject;
      const optional = <T extends object>(value: T): Partial<T> => (draw.below(2) ? value : {});
      const tool = { name: 'f', description: 'Does it.', parameters: schema, strict: true };
      const pairs: [object, object][] = [
        [{ max_output_tokens: 9 }, { max_tokens: 9 }],
        [{ reasoning: { effort: 'low', summary: 'auto' } }, { reasoning_effort: 'low' }],
        [{ top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
        [
          { text: { format: { type: 'json_schema', name: 'p', schema, strict: true }, verbosity: 'low' } },
          {
            response_format: { type: 'json_schema', json_schema: { name: 'p', schema, strict: true } },
            verbosity: 'low',
          },
        ],
        [
          {
            tools: [{ type: 'function', ...tool }, { type: 'web_search' }],
            tool_choice: { type: 'function', name: 'f' },
            parallel_tool_calls: false,
          },
          {
            tools: [{ type: 'function', function: tool }],
            tool_choice: { type: 'function', function: { name: 'f' } },
            parallel_tool_calls: false,
          },
        ],
        [{ metadata: { a: 'b' }, store: false, truncation: 'auto', include: [], client_metadata: {} }, {}],
        [{ chat_template_kwargs: { a: 1 } }, { chat_template_kwargs: { a: 1 } }],
      ];
      const chosen = pairs.filter(() => draw.below(2));
      const body = Object.assign(
        { model: 'prj', input: items, ...optional({}), ...fields },
        ...chosen.map(([own]) => own),
      );
      const expected = Object.assign(
        { model: 'm', messages, stream: false, ...fields },
        ...chosen.map(([, other]) => other),
      );
      expect(sentOn(body)).toEqual(expected);
    }
  });

  it('lists items that mean the same as those of the request', () => {
    for (let seed = 0; seed < 200; seed++) {
      const messages = messagesOf(itemsOf(new Draw(seed)).items as never, new Map());
      const items = inputItems({ id: 'resp_1', messages });
      expect(messagesOf(items as never, new Map())).toEqual(messages);
      expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    }
  });
});

const logprob = { token: 'a', bytes: [97], logprob: -1, top: [] };
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 2 };
const answer: ResponsePart[] = [
  { text: '', reasoning: 'Hm' },
  { text: 'a', logprobs: [logprob] },
  { text: '', toolCalls: [{ index: 0, id: 'call_1', name: 'f', arguments: '{' }] },
  { text: '', toolCalls: [{ index: 0, arguments: '}' }] },
];

/** Returns the events of a response with these parts. */
async function eventsOf(summary: string | null, status: Response['status'], background = true): Promise<JsonObject[]> {
  const response: Response = {
    ...{ id: 'resp_1', accountId: 'usr_1', projectId: 'prj_1', background, previousId: null, messages: [] },
    ...{
      repeated: { model: 'm', reasoning: { summary } },
      output: [],
      usage: null,
      createdAt: new Date(),
      finishedAt: null,
    },
    ...{ status: 'queued', failure: null },
  };
  async function* steps(): AsyncGenerator<ResponseStep> {
    const assembly = new AnswerAssembly();
    yield { step: 'running' };
    for (const part of answer) yield* assembly.add(part);
    yield* assembly.end(true);
    yield { step: 'finished', response: { ...response, status, output: assembly.items, usage } };
  }
  let text = '';
  for await (const event of new ResponseEvents(response).of(steps())) text += event;
  return text
    .trimEnd()
    .split('\n\n')
    .map((event) => JSON.parse(event.replace(/^event: .*\ndata: /, '')));
}

it('events have the fields that OpenAI publishes', async () => {
  const file = join(__dirname, '../../node_modules/openai/resources/responses/responses.d.ts');
  const interfaces = readFileSync(file, 'utf8').matchAll(/^export interface \w+Event \{\n(.*?)^\}/gms);
  const published = new Map<string, { name: string; isOptional: boolean }[]>();
  for (const [, body = ''] of interfaces) {
    const fields = [...body.matchAll(/^ {4}(\w+)(\??): (.*)$/gm)];
    const type = fields.find(([, name]) => name === 'type')?.[3]?.replace(/[';]/g, '') ?? '';
    published.set(
      type,
      fields.map(([, name = '', mark]) => ({ name, isOptional: mark === '?' })),
    );
  }
  const seen = new Set<string>();
  for (const status of ['completed', 'incomplete', 'failed'] as const)
    for (const event of [...(await eventsOf(null, status)), ...(await eventsOf('auto', status))]) {
      const fields = published.get(String(event.type)) ?? [];
      const required = fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
      expect([event.type, Object.keys(event).sort()]).toEqual([event.type, required.sort()]);
      seen.add(String(event.type));
    }
  expect(seen.size).toBe(20);
});

describe('an answer after a crash', () => {
  const end = { finishReason: 'stop', usage } as const;
  const of = (...texts: string[]): CompletionPart[] => texts.map((text) => ({ text }));
  const call = (name: string | undefined, text: string): CompletionPart => ({
    text: '',
    toolCalls: [{ index: 0, ...(name && { id: `call_${Math.random()}`, name }), arguments: text }],
  });
  const added = (stored: readonly ResponsePart[], next: readonly CompletionPart[]) => {
    const resumed = new ResumedAnswer(stored);
    return [...next, { text: '', end }].flatMap((part) => resumed.take(part));
  };
  const joined = (parts: readonly ResponsePart[]) => parts.map(({ text, anew }) => (anew ? `|${text}` : text)).join('');

  it.each<[string, CompletionPart[], CompletionPart[], string]>([
    ['nothing was stored', [], of('Hello', ' you'), 'Hello you'],
    ['the parts are the same', of('Hello'), of('Hello', ' you'), ' you'],
    ['the parts are longer', of('Hel', 'lo'), of('Hello you'), ' you'],
    ['the parts are shorter', of('Hello'), of('H', 'e', 'l', 'lo y', 'ou'), ' you'],
    ['the text is another', of('Hello'), of('Hel', 'p', ' me'), '|Help me'],
    ['the text is shorter', of('Hello'), of('Hel'), '|Hel'],
    ['only a thought follows', [{ text: '', reasoning: 'Hm' }, ...of('Hello')], of('Hello'), '|Hello'],
  ])('goes on or begins anew if %s', (_, stored, next, expected) => {
    expect(joined(added(stored, next))).toBe(expected);
  });

  it('goes on within a call, and begins anew for another one', () => {
    const stored = [call('f', '{"a"')];
    expect(added(stored, [call('f', '{'), call(undefined, '"a":1}')])).toMatchObject([
      { toolCalls: [{ index: 0, arguments: ':1}' }] },
      {},
    ]);
    expect(added(stored, [call('g', '{"a"')])[0]).toMatchObject({ anew: true, toolCalls: [{ name: 'g' }] });
    const after = [...of('Hello'), { text: 'Help', anew: true as const }];
    expect(joined(added(after, of('Help', ' me')))).toBe(' me');
  });
});
