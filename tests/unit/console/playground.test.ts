import { codeOf, type Language } from '../../../src/interfaces/web/console/pages/playground/code.js';
import { additionOf, EventReader } from '../../../src/interfaces/web/console/pages/playground/events.js';
import { blocksOf, prettyJson, spansOf } from '../../../src/interfaces/web/console/pages/playground/markup.js';
import {
  defaultSettings,
  fittingMessages,
  type HistoryMessage,
  requestOf,
  schemaProblem,
} from '../../../src/interfaces/web/console/pages/playground/request.js';
import { settingsFor, specWith } from '../../../src/interfaces/web/console/pages/playground/spec-settings.js';

describe('the events of a streamed answer', () => {
  it('are read from pieces of any length, without comments', () => {
    const stream = ': keep-alive\n\ndata: {"a":1}\n\ndata: two\ndata: lines\n\ndata: [DONE]\n\ndata: cut';
    for (let at = 0; at <= stream.length; at++) {
      const reader = new EventReader();
      const read = [...reader.read(stream.slice(0, at)), ...reader.read(stream.slice(at))];
      expect(read).toEqual(['{"a":1}', 'two\nlines', '[DONE]']);
    }
  });

  it('are read as text, end, usage or failure', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2 };
    const error = { message: 'The model did not finish within 60 s.', code: 'inference_timeout' };
    const added = [
      { choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: null },
      { choices: [{ delta: { content: 'Paris' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'length' }] },
      { choices: [], usage },
      { error },
    ].map((chunk) => additionOf(JSON.stringify(chunk)));
    expect(added).toEqual([{}, { text: 'Paris' }, { finish: 'length' }, { usage }, { error }]);
    expect(additionOf('[DONE]')).toEqual({ done: true });
  });
});

const message = (role: HistoryMessage['role'], text: string): HistoryMessage => ({ role, text });
const turns = (count: number) =>
  Array.from({ length: count }, (_, at) => [message('user', `q${at}`), message('assistant', `a${at}`)]).flat();

describe('the request of the playground', () => {
  const question = { model: 'prj_1', history: [message('user', 'Hi')] };
  const spec = {
    goal: 'Help',
    system_prompt: 'Be short.',
    sampling: { temperature: 0.2, seed: 7, stop: ['END'], x: 'y' },
  };

  it('has only values that are set, and the prompt of the spec unless another is set', () => {
    const settings = settingsFor(defaultSettings, { system_prompt: 'Be short.', sampling: 'none' });
    expect(requestOf({ ...question, settings })).toEqual({
      model: 'prj_1',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hi' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
    const schema = { type: 'object' };
    const typed = {
      ...defaultSettings,
      system: '',
      temperature: '0.5',
      seed: '0',
      stop: 'END\n\n###',
      format: 'json_schema' as const,
      schema: JSON.stringify(schema),
    };
    expect(requestOf({ ...question, settings: settingsFor(typed, spec) })).toMatchObject({
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
      seed: 0,
      stop: ['END', '###'],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
    });
  });

  it('has the sampling of the spec unless another is set, and saves both in a spec', () => {
    const settings = settingsFor({ ...defaultSettings, temperature: '0.5', max_tokens: '20' }, spec);
    expect(requestOf({ ...question, settings })).toMatchObject({
      temperature: 0.5,
      max_tokens: 20,
      seed: 7,
      stop: ['END'],
    });
    const sampling = { temperature: 0.5, max_tokens: 20, seed: 7, stop: ['END'] };
    expect(specWith({ goal: 'Other', acceptance: null }, settings)).toEqual({
      goal: 'Other',
      acceptance: null,
      system_prompt: 'Be short.',
      sampling,
    });
    const blank = { goal: 'Help', system_prompt: null };
    expect(specWith(blank, settingsFor(defaultSettings, blank))).toEqual(blank);
    expect(JSON.stringify(specWith(spec, settingsFor(defaultSettings, spec)))).toBe(JSON.stringify(spec));
    expect(specWith(spec, { ...defaultSettings, system: ' ', format: 'json_object' })).toEqual({
      goal: 'Help',
      sampling: { x: 'y' },
      response_format: { type: 'json_object' },
    });
    const invalid = { ...defaultSettings, format: 'json_schema' as const, schema: '{' };
    expect(specWith({ goal: 'Help' }, invalid)).toEqual({ goal: 'Help' });
  });

  it('has the newest messages that fit the limits and begin with a question', () => {
    const fitting = fittingMessages([...turns(80), message('user', 'last')], 'system');
    expect(fitting).toHaveLength(99);
    expect([fitting[0], fitting.at(-1)]).toEqual([message('user', 'q31'), message('user', 'last')]);
    const long = [
      ...turns(2),
      message('user', '😀'.repeat(16_000)),
      message('assistant', 'x'.repeat(47_000)),
      message('user', 'y'),
    ];
    expect(fittingMessages(long, '').map(({ text }) => text.length)).toEqual([2, 2, 2, 2, 32_000, 47_000, 1]);
    expect(fittingMessages(long, 'x'.repeat(1_000)).map(({ text }) => text.length)).toEqual([1]);
    expect(fittingMessages([message('user', 'z'.repeat(70_000))], '')).toHaveLength(1); // The service refuses it.
  });

  it('needs a schema that is a JSON object', () => {
    expect(schemaProblem('{"type": "object"}')).toBeNull();
    expect(schemaProblem('[1]')).toBe('The schema must be a JSON object.');
    expect(schemaProblem('{"type":')).toMatch(/^This is not JSON: /);
  });
});

describe('the code of a request', () => {
  const request = requestOf({
    model: 'prj_1',
    history: [message('user', "What's `this`?\n\"quoted\": 'text'")],
    settings: {
      ...defaultSettings,
      system: 'Be short.',
      temperature: '0.5',
      max_tokens: '20',
      stop: 'END',
      seed: '7',
      format: 'json_schema',
    },
  });
  const code = (language: Language) => codeOf(language, request, 'http://localhost:8080');

  /** Runs a JavaScript program without its imports, and returns the request that it sends. */
  async function sentBy(program: string, imports: object): Promise<unknown> {
    const fetched: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = async (_, init) => {
      fetched.push(JSON.parse(String(init?.body)));
      const end = { id: 'chatcmpl-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
      return new Response(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`, {
        headers: { 'Content-Type': 'text/event-stream' },
      });
    };
    const AsyncFunction = (async () => {}).constructor as typeof Function;
    const body = program.replaceAll(/^import .*$/gm, '');
    try {
      await new AsyncFunction(...Object.keys(imports), body)(...Object.values(imports));
    } catch {
      // The answer is empty: only the request matters.
    } finally {
      globalThis.fetch = original;
    }
    return fetched[0];
  }

  it('sends exactly this request by openai', async () => {
    const { default: OpenAI } = await import('openai');
    process.env.KEY = 'tnk_1';
    expect(await sentBy(code('openai'), { OpenAI })).toEqual(request);
  });

  it('sends exactly this request by the AI SDK', async () => {
    const [{ createOpenAICompatible }, { streamText, Output, jsonSchema }] = [
      await import('@ai-sdk/openai-compatible'),
      await import('ai'),
    ];
    const sent = await sentBy(code('ai'), { createOpenAICompatible, streamText, Output, jsonSchema });
    expect(sent).toEqual(request);
  });

  it('sends exactly this request by openai for Python', () => {
    const [, call = ''] = /create\(\n([\s\S]*?)\n\)\n/.exec(code('python')) ?? [];
    expect(call).toMatch(/^ {4}stream=True,$/m);
    expect(call).not.toMatch(/\b(?:true|false|null)\b/);
    // Arguments with names are JSON except for these words.
    const json = call
      .replaceAll(/^ {4}(\w+)=/gm, '"$1": ')
      .replaceAll('True', 'true')
      .replaceAll('False', 'false');
    expect(JSON.parse(`{${json.replace(/,$/, '')}}`)).toEqual(request);
    const texts = { ...request, messages: [{ role: 'user' as const, content: 'null\n": true,\nfalse' }] };
    expect(codeOf('python', texts, '')).toContain(JSON.stringify('null\n": true,\nfalse'));
  });

  it('is quoted for a shell in curl', () => {
    expect(code('curl')).toContain('curl -N http://localhost:8080/openai/v1/chat/completions \\\n');
    const [, quoted = ''] = /-d '([\s\S]*)'$/.exec(code('curl')) ?? [];
    expect(JSON.parse(quoted.replaceAll(`'\\''`, "'"))).toEqual(request);
  });
});

describe('the text of an answer', () => {
  it('is divided into paragraphs, lists, headings and code, also before it is complete', () => {
    const text =
      '# Title\n\n \nOne\ntwo\n\n- a\n- **b**\n1. c\n2. d\n```js\n- no list\n\n# no heading\n```\nend\n```\nopen';
    expect(blocksOf(text)).toEqual([
      { kind: 'heading', text: 'Title' },
      { kind: 'text', text: 'One\ntwo' },
      { kind: 'list', start: null, items: ['a', '**b**'] },
      { kind: 'list', start: 1, items: ['c', 'd'] },
      { kind: 'code', language: 'js', text: '- no list\n\n# no heading' },
      { kind: 'text', text: 'end' },
      { kind: 'code', language: '', text: 'open' },
    ]);
    expect(blocksOf('')).toEqual([]);
    const html = '<img src=x onerror=alert(1)>';
    expect(blocksOf(html)).toEqual([{ kind: 'text', text: html }]);
  });

  it('has bold text and code within a line', () => {
    expect(spansOf('a **b** `c**d**` ** e ` f')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'bold', text: 'b' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'c**d**' },
      { kind: 'text', text: ' ** e ` f' },
    ]);
  });

  it('is shown with indents if it is a JSON object or array', () => {
    expect(prettyJson('{"city":"Paris"}')).toBe('{\n  "city": "Paris"\n}');
    expect([prettyJson('12'), prettyJson('{"cut":'), prettyJson('[Paris]')]).toEqual([null, null, null]);
  });
});
