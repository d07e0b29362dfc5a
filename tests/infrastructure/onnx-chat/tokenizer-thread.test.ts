import { EventEmitter, once } from 'node:events';
import type { ChatRequest, RequestMessage } from '../../../src/domain/chat/chat.js';
import {
  type TokenizerReport,
  TokenizerThread,
} from '../../../src/infrastructure/onnx-chat/worker/tokenizer-thread.js';
import { cutMessage, cutTools, longestText } from '../../../src/infrastructure/onnx-chat/worker/tools/template-json.js';
import { ModelFolders, tinyChat, withFields } from '../../support/onnx/model-folders.js';

const folders = new ModelFolders();
afterAll(() => folders.remove());

const CONTEXT = 2048;
const LONG = 'blue river '.repeat(11_200);

it('each text of a message that the template may show is cut before it is rendered', () => {
  const call = { id: 'c', name: 'f', arguments: '{}' };
  const message: RequestMessage = { role: 'tool', content: '', name: 'n', toolCallId: 'c', toolCalls: [call] };
  expect(cutMessage(message, 2)).toEqual(message);
  const long = 'abc'.repeat(100);
  const texts = { content: long, reasoning: long, refusal: long, name: long, toolCallId: long };
  const calls = [{ toolCalls: [{ ...call, id: long }] }, { toolCalls: [{ ...call, name: long }] }];
  for (const one of [...Object.entries(texts).map(([field, text]) => ({ [field]: text })), ...calls]) {
    expect(longestText({ ...message, ...one })).toBe(300);
    expect(longestText(cutMessage({ ...message, ...one }, 2))).toBe(2);
  }
  const args = { ...message, toolCalls: [{ ...call, arguments: JSON.stringify({ long }) }] };
  expect(cutMessage(args, 5).toolCalls).toEqual([{ ...call, arguments: '{"cut":"{\\"lon"}' }]);
});

it('descriptions of tools are cut together', () => {
  const tools = ['ab', undefined, 'abcd', 'x'].map((description) => ({
    name: 'f',
    ...(description && { description }),
  }));
  expect(cutTools(tools, 99)).toEqual(tools);
  expect(cutTools(tools, 3).map(({ description }) => description)).toEqual(['ab', undefined, 'a', '']);
});

describe('the counter of tokens', () => {
  let counter: TokenizerThread;
  let reports: TokenizerReport[];
  const events = new EventEmitter();

  const use = (folder = tinyChat) => {
    reports = [];
    counter = new TokenizerThread((report) => {
      reports.push(report);
      events.emit('report');
    });
    counter.take({ type: 'load', folder });
    expect(reports.splice(0)).toMatchObject([{ type: 'loaded' }]);
  };
  const count = (call: number, caller: string, texts: readonly string[], more: Partial<ChatRequest> = {}) => {
    const messages = texts.map((content) => ({ role: 'user' as const, content }));
    const request = { messages, maxTokens: null, temperature: 0, ...more };
    counter.take({ type: 'tokenize', call, caller, request, stream: false });
  };
  const reported = async (reportsInAll: number) => {
    while (reports.length < reportsInAll) await once(events, 'report');
    return reports;
  };
  const calls = () => reports.map((report) => ('call' in report ? report.call : null));

  it('tells the tokens of a prompt, and how many are left for the answer', async () => {
    use();
    const most = ['a '.repeat(CONTEXT - 100)]; // leaves less than an answer may have without max_tokens
    count(1, 'a', most);
    count(2, 'a', most, { maxTokens: 5 });
    const [free, bounded] = await reported(2);
    expect(free).toMatchObject({ type: 'tokenized', call: 1 });
    const { prompt, room } = free as Extract<TokenizerReport, { type: 'tokenized' }>;
    expect(room).toBe(CONTEXT - prompt.length);
    expect(bounded).toEqual({ type: 'tokenized', call: 2, prompt, room: 5 });
  });

  it('only counts a prompt that nobody wants an answer to, up to twice the context', async () => {
    use();
    const only = (call: number, content: string) => {
      const request = { messages: [{ role: 'user' as const, content }], maxTokens: null, temperature: 0 };
      counter.take({ type: 'count', call, caller: 'a', request });
    };
    count(1, 'a', ['Hi']);
    only(2, 'Hi');
    only(3, 'a '.repeat(CONTEXT));
    only(4, LONG);
    const [tokenized, ...counted] = await reported(4);
    const { prompt } = tokenized as Extract<TokenizerReport, { type: 'tokenized' }>;
    expect(counted).toEqual([
      { type: 'counted', call: 2, promptTokens: prompt.length },
      { type: 'counted', call: 3, promptTokens: expect.any(Number) },
      expect.objectContaining({ type: 'too_long', call: 4, whole: false, context: CONTEXT }),
    ]);
  });

  it('counts all tokens of a prompt that is a little too long, and stops early in a longer one', async () => {
    use();
    const tokens = (times: number) => Array.from({ length: times }, () => 'a').join(' ');
    count(1, 'a', [tokens(2 * CONTEXT - 40)]);
    count(2, 'a', [tokens(2 * CONTEXT), LONG, LONG]);
    count(3, 'a', ['Hi'], { maxTokens: CONTEXT });
    const [somewhat, far, greedy] = await reported(3);
    expect(somewhat).toMatchObject({ type: 'too_long', call: 1, whole: true, context: CONTEXT });
    expect(far).toMatchObject({ type: 'too_long', call: 2, whole: false, context: CONTEXT });
    const { promptTokens } = far as Extract<TokenizerReport, { type: 'too_long' }>;
    expect(promptTokens).toBeGreaterThan(2 * CONTEXT);
    expect(promptTokens).toBeLessThan(2 * CONTEXT + 2_000);
    expect(greedy).toMatchObject({ type: 'too_long', call: 3, whole: true });
  });

  it('leaves out the oldest turns of a prompt that does not fit, but no system message, if the caller wants that', async () => {
    use();
    const of = (role: 'user' | 'assistant' | 'system', content: string) => ({ role, content });
    const turn = (n: number) => [of('user', `Question ${n}`), of('assistant', `blue river seven `.repeat(70))];
    const system = of('system', 'Be brief.');
    const last = of('user', 'What is the capital of France?');
    const turns = Array.from({ length: 40 }, (_, n) => turn(n)).flat();
    const ask = (call: number, messages: ChatRequest['messages'], leaveOutOldest = true) =>
      count(call, 'a', [], { messages, maxTokens: 40, cutToContext: true, leaveOutOldest });
    ask(1, [system, ...turns, last], false);
    ask(2, [system, ...turns, last]);
    ask(3, [system, of('user', LONG), of('assistant', 'Yes.'), last]);
    ask(4, [system, last]);
    ask(5, [...turns, of('user', LONG)]);
    const [whole, shortened, alone, fits, tooLong] = await reported(5);
    expect(whole).toMatchObject({ type: 'too_long', call: 1 });
    expect(shortened).toMatchObject({ type: 'tokenized', call: 2, room: 40 });
    expect(alone).toEqual({ ...fits, call: 3 });
    expect(tooLong).toMatchObject({ type: 'too_long', call: 5 });
    // As many turns as fit, beside the room for the answer.
    const { prompt } = shortened as Extract<TokenizerReport, { type: 'tokenized' }>;
    expect(prompt.length).toBeLessThanOrEqual(CONTEXT - 40);
    const kept = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [system, ...turns.slice(-2 * number), last]);
    for (const [index, messages] of kept.entries()) ask(6 + index, messages, false);
    const exact = (await reported(5 + kept.length)).slice(5);
    const fitting = exact.filter((one) => one.type === 'tokenized' && one.prompt.length <= CONTEXT - 40);
    expect(fitting.at(-1)).toMatchObject({ prompt });
  });

  it('stops early in a long section, also of tools, and cuts no prompt that fits', async () => {
    const chat_template =
      '{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}';
    use(folders.like({ 'tokenizer_config.json': withFields({ chat_template }) }));
    const text = (length: number) => 'blue river '.repeat(length / 11);
    const tool = (length: number) => ({ name: 'f', description: text(length) });
    count(1, 'a', ['Hi'], { tools: [tool(500_000)] });
    count(2, 'a', ['Hi'], { tools: Array.from({ length: 100 }, () => tool(4_000)) });
    count(3, 'a', Array(100).fill(text(4_000)));
    count(4, 'a', ['Hi'], { tools: [tool(50)] });
    const [one, several, texts, short] = await reported(4);
    for (const report of [one, several, texts]) {
      const { promptTokens } = report as Extract<TokenizerReport, { type: 'too_long' }>;
      expect(report).toMatchObject({ type: 'too_long', whole: false });
      expect(promptTokens).toBeGreaterThan(2 * CONTEXT);
      expect(promptTokens).toBeLessThan(20 * CONTEXT);
    }
    expect(short).toMatchObject({ type: 'tokenized' });
  });

  it('serves others between its attempts at a prompt whose long texts the template leaves out', async () => {
    const chat_template = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}";
    use(folders.like({ 'tokenizer_config.json': withFields({ chat_template }) }));
    count(1, 'a', ['Hi'], { tools: [{ name: 'f', description: LONG.repeat(20) }] });
    count(2, 'b', ['Hi']);
    expect((await reported(2)).map((report) => 'call' in report && report.call)).toEqual([2, 1]);
  });

  it('refuses an earlier call whose arguments are nested too deep', async () => {
    use();
    const ask = (call: number, levels: number) => {
      const json = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      const messages = [
        { role: 'assistant' as const, content: '', toolCalls: [{ id: 'a', name: 'f', arguments: json }] },
      ];
      const request = {
        messages: [...messages, { role: 'user' as const, content: 'Hi' }],
        maxTokens: null,
        temperature: 0,
      };
      counter.take({ type: 'count', call, caller: 'a', request });
    };
    ask(1, 63);
    ask(2, 1_000);
    const [shallow, deep] = await reported(2);
    expect(shallow).toMatchObject({ type: 'counted' });
    expect(deep).toMatchObject({ type: 'refused', path: 'messages.0.tool_calls.0.function.arguments' });
  });

  it('refuses variables with which the template fails', async () => {
    use();
    count(1, 'a', ['Hi'], {
      templateFields: { refuse: 1, raise_exception: 2, loop: 3, range: 4, namespace: 5, strftime_now: 6 },
    });
    count(2, 'a', ['Hi'], { templateFields: { tone: 'kind' } });
    const [refused, served] = await reported(2);
    expect(served).toMatchObject({ type: 'tokenized', call: 2 });
    expect(refused).toMatchObject({ type: 'refused', call: 1, path: 'chat_template_kwargs' });
  });

  it('serves callers in turns, and the calls of one caller in order', async () => {
    use(folders.like({ 'config.json': withFields({ max_position_embeddings: 100_000 }) }));
    for (const call of [1, 2]) count(call, 'greedy', [LONG]);
    for (const call of [3, 4]) count(call, 'other', [LONG]);
    count(5, 'modest', ['Hi']);
    await reported(5);
    expect(calls()).toEqual([5, 1, 3, 2, 4]);
  });

  it('does nothing more for a cancelled call, and confirms the cancellation', async () => {
    use();
    for (const call of [1, 2, 3]) count(call, 'a', [LONG]);
    counter.take({ type: 'cancel', call: 2 });
    counter.take({ type: 'cancel', call: 7 });
    await reported(4);
    expect(reports.map(({ type }, i) => [type, calls()[i]])).toEqual([
      ['cancelled', 2],
      ['cancelled', 7],
      ['too_long', 1],
      ['too_long', 3],
    ]);
  });

  it('drops a cancelled call that it has begun', async () => {
    use(folders.like({ 'config.json': withFields({ max_position_embeddings: 100_000 }) }));
    count(1, 'a', [LONG, LONG, LONG, LONG]);
    count(2, 'b', ['Hi']);
    await reported(1);
    counter.take({ type: 'cancel', call: 1 });
    count(3, 'a', ['Hi']);
    await reported(3);
    expect(calls()).toEqual([2, 1, 3]);
    expect(reports[1]).toEqual({ type: 'cancelled', call: 1 });
  });
});
