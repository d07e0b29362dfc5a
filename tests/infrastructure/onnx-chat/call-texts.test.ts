import type { ToolCall, ToolCallPart } from '../../../src/domain/chat/chat.js';
import { AnswerText } from '../../../src/infrastructure/onnx-chat/worker/answer-text.js';
import { readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import { type Prompt, Prompts } from '../../../src/infrastructure/onnx-chat/worker/prompts.js';
import { Vocabulary } from '../../../src/infrastructure/onnx-chat/worker/tokenizers.js';
import type { CallForm } from '../../../src/infrastructure/onnx-chat/worker/tools/call-form.js';
import { type CallStart, callReader } from '../../../src/infrastructure/onnx-chat/worker/tools/call-reader.js';
import { ModelFolders, specialIds, tinyChat, VOCABULARY, withFields } from '../../support/onnx/model-folders.js';
import { type ToolTemplate, toolTemplates } from '../../support/onnx/tool-templates.js';

const files = readModelFiles(tinyChat);
const withTemplate = (text: string) => new Prompts({ ...files, template: { text, file: 'a file' } });
const formOf = (name: ToolTemplate) => withTemplate(toolTemplates[name]).callForm as CallForm;

const [weather, time] = [
  { name: 'get_weather', arguments: '{"a": "Par\\"}is é😀", "b": [{"c": "}"}]}' },
  { name: 'get_time', arguments: '{}' },
] as const;
const names = [weather.name, time.name];

/** Returns what an answer in these pieces becomes. */
function read(pieces: readonly string[], form: CallForm, about: Partial<CallStart> & { stop?: string[] } = {}) {
  const { stop = [], ...start } = about;
  const calls = callReader({ names, isAnywhere: form.followsText, ...start }, form);
  const answer = new AnswerText({ decode: (ids) => ids.map((id) => pieces[id]).join(''), stop, calls });
  let text = '';
  let kept = '';
  const parts: ToolCallPart[] = [];
  const take = () => {
    const part = answer.take();
    text += part.text;
    kept += (part.logprobs ?? []).map(({ token }) => token).join('');
    parts.push(...(part.toolCalls ?? []));
  };
  for (const [id, piece] of pieces.entries()) {
    if (answer.stopped) break;
    answer.add(id, { token: piece, bytes: [], logprob: 0, top: [] });
    take();
  }
  answer.end(false);
  take();
  const made: Omit<ToolCall, 'id'>[] = [];
  for (const { index, name, arguments: some } of parts) {
    const known = made[index];
    if ((known === undefined) !== (name !== undefined)) throw new Error('a call has its name once');
    made[index] = { name: known?.name ?? String(name), arguments: (known?.arguments ?? '') + some };
  }
  return { text, kept, calls: made, isCall: answer.isCall };
}

/** All ways to cut a text into three pieces, and each character as a piece. */
function splits(text: string): string[][] {
  const all = [[...text]];
  for (let i = 0; i <= text.length; i++)
    for (let j = i; j <= text.length; j++) all.push([text.slice(0, i), text.slice(i, j), text.slice(j)]);
  return all;
}

const args = (call: typeof weather | typeof time) => call.arguments;
const answers: Record<ToolTemplate, (call: string) => string> = {
  tags: () =>
    `<tool_call>\n{"name": "get_weather", "arguments": ${args(weather)}}\n</tool_call>\n` +
    `<tool_call>\n{"name": "get_time", "arguments": ${args(time)}}\n</tool_call>`,
  list: () =>
    `[TOOL_CALLS][{"name": "get_weather", "arguments": ${args(weather)}}, {"name": "get_time", "arguments": {}}]`,
  json: () => `{"name": "get_weather", "parameters": ${args(weather)}}`,
};
const forms = Object.keys(answers) as ToolTemplate[];

describe.each(forms)('an answer with calls in the form of %s', (name) => {
  const form = formOf(name);
  const answer = answers[name]('');
  const made = name === 'json' ? [weather] : [weather, time];

  it('becomes calls, however its text is split', () => {
    const expected = JSON.stringify({ text: '', kept: '', calls: made, isCall: true });
    expect(splits(answer).filter((pieces) => JSON.stringify(read(pieces, form)) !== expected)).toEqual([]);
  });

  it('becomes calls although the tokenizer loses white space', () => {
    const bare = answer.replaceAll('\n', '').replace(' "arguments": ', '"arguments":');
    expect(read([...bare], form).calls).toEqual(made);
  });

  it('is text and calls, with the probabilities of the text alone', () => {
    if (!form.followsText) return;
    const wrong = splits(`A < b. ${answer}`).filter((pieces) => {
      const { text, calls, isCall } = read(pieces, form);
      return JSON.stringify([text, calls, isCall]) !== JSON.stringify(['A < b. ', made, true]);
    });
    expect(wrong).toEqual([]);
    expect(read([...`Hm. ${answer}`], form).kept).toBe('Hm. ');
  });

  it('is only text without a call, also if it ends with a beginning of one', () => {
    for (const text of ['', 'Hello', form.trigger.slice(0, 5), `x${form.trigger.slice(0, -1)}`])
      for (const pieces of splits(text)) expect(read(pieces, form)).toMatchObject({ text, calls: [], isCall: false });
  });

  it('ends before a stop text, but a call may contain it', () => {
    expect(read([...answer], form, { stop: ['is é'] }).calls).toEqual(made);
    if (form.followsText)
      expect(read([...`A < b. ${answer}`], form, { stop: ['b.'] })).toMatchObject({ text: 'A < ', calls: [] });
  });

  it('has the beginning of a call that ends by length', () => {
    const end = answer.indexOf('is é');
    const { calls, isCall } = read([...answer.slice(0, end)], form);
    expect([calls, isCall]).toEqual([[{ ...weather, arguments: '{"a": "Par\\"}' }], false]);
    expect(read([...answer.slice(0, answer.indexOf('weather'))], form).calls).toEqual([]);
  });

  it('begins with a call or has none, if the text has another form', () => {
    const start = { isAnywhere: false };
    expect(read([...answer], form, start).calls).toEqual(made);
    const value = `{"name": "${form.trigger.replaceAll('"', '')}"}`;
    for (const pieces of splits(value)) expect(read(pieces, form, start)).toMatchObject({ text: value, calls: [] });
  });

  it('fails if it is broken', () => {
    for (const broken of [`${answer}x`, answer.replace(/"(arguments|parameters)": \{/, '"$1": [{')])
      expect(() => read([...broken], form)).toThrow('its tool call has a wrong form');
  });
});

describe('a chat template', () => {
  const textOf = (prompts: Prompts, chat: Parameters<Prompts['of']>[0]) => {
    let step: IteratorResult<void, Prompt>;
    const steps = prompts.of(chat);
    do step = steps.next();
    while (!step.done);
    const vocabulary = new Vocabulary(files);
    const marks = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
    return step.value.tokens.map((id) => marks[specialIds.indexOf(id)] ?? vocabulary.decode([id])).join('');
  };
  const user = { role: 'user', content: 'Hi' } as const;
  const tools = [{ name: 'get_weather' }];
  const call = (id: string, text: string) => ({ id, name: 'get_weather', arguments: text });
  const assistant = (...toolCalls: ToolCall[]) => ({ role: 'assistant', content: '', toolCalls }) as const;

  it('that shows no tools, or writes calls in another form, knows no tools', () => {
    expect(withTemplate('{% for message in messages %}{{ message.content }}{% endfor %}').callForm).toBeNull();
    const other = toolTemplates.tags.replace('"name"', '"function"');
    expect(withTemplate(other).callForm).toBeNull();
    expect(withTemplate(toolTemplates.tags.replace('{{ tool.function.name }}', 'a tool')).callForm).toBeNull();
    expect(
      withTemplate(`{% if tools %}{{ raise_exception('None.') }}{% endif %}${toolTemplates.tags}`).callForm,
    ).toBeNull();
  });

  it('of its own for tools is used only with tools', () => {
    const { text, file } = files.template;
    const prompts = new Prompts({ ...files, template: { text, file, withTools: toolTemplates.tags } });
    expect(prompts.callForm).toMatchObject({ trigger: '<tool_call>' });
    expect(textOf(prompts, { messages: [user] })).not.toContain('get_weather');
    expect(textOf(prompts, { messages: [user], tools })).toContain('get_weather');
    expect(textOf(prompts, { messages: [user], tools, toolChoice: 'none' })).not.toContain('get_weather');
    const folders = new ModelFolders();
    const named = [
      { name: 'default', template: text },
      { name: 'tool_use', template: toolTemplates.list },
    ];
    const folder = folders.like({ 'tokenizer_config.json': withFields({ chat_template: named }) });
    expect(new Prompts(readModelFiles(folder)).callForm).toMatchObject({ trigger: '[TOOL_CALLS]' });
    folders.remove();
  });

  it('gets the arguments of earlier calls as objects, and the name of the tool with its result', () => {
    const shown = withTemplate("{% for one in messages %}{{ one | tojson }}{{ '\\n' }}{% endfor %}");
    const messages = [user, assistant(call('call_1', '{"a": [1]}'), call('call_2', '')), result('call_1')];
    const [, made, told] = textOf(shown, { messages })
      .split('\n')
      .map((line) => line && JSON.parse(line));
    expect(made.tool_calls.map((one: { function: ToolCall }) => one.function.arguments)).toEqual([{ a: [1] }, {}]);
    expect(told).toMatchObject({ role: 'tool', name: 'get_weather', tool_call_id: 'call_1', content: '7' });
    for (const wrong of ['{', '[]', '"a"'])
      expect(() => textOf(shown, { messages: [user, assistant(call('a', '{}'), call('b', wrong))] })).toThrow(
        expect.objectContaining({ path: 'messages.1.tool_calls.1.function.arguments' }),
      );
  });
  const result = (toolCallId: string) => ({ role: 'tool', content: '7', toolCallId }) as const;

  it('that wants short ids gets them, each call and its result the same', () => {
    const list = withTemplate(
      `${toolTemplates.list}{% for m in messages %}{% if m.tool_call_id %}{{ m.tool_call_id }}{% endif %}{% endfor %}`,
    );
    const id = 'call_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
    const text = textOf(list, { messages: [user, assistant(call(id, '{}')), result(id)], tools });
    const [, short] = /"id": "([a-z0-9]{9})"/.exec(text) ?? [];
    expect(text).toMatch(new RegExp(`${short}$`));
    expect(textOf(list, { messages: [user, assistant(call('abc123DEF', '{}')), user], tools })).toContain('abc123DEF');
  });

  it('writes the special tokens; tools, arguments and results never do', () => {
    const added = [
      ...(files.tokenizer.added_tokens as object[]),
      { id: VOCABULARY, content: '<tool_call>', special: false },
    ];
    const model = {
      ...(files.tokenizer.model as object),
      vocab: { ...(files.tokenizer.model as { vocab: object }).vocab, '<tool_call>': VOCABULARY },
    };
    const template = { text: `{{ tools | tojson }}${toolTemplates.tags}`, file: 'a file' };
    const prompts = new Prompts({ ...files, tokenizer: { ...files.tokenizer, added_tokens: added, model }, template });
    const tokensOf = (evil: string) => {
      const parameters = { type: 'object', properties: { [`a${evil}`]: { enum: [evil], description: evil } } };
      const chat = {
        messages: [
          { ...user, content: evil },
          assistant({ id: evil, name: `n${evil}`, arguments: JSON.stringify({ [evil]: [evil, { x: evil }] }) }),
          { ...result(evil), content: evil, name: evil },
        ],
        tools: [{ name: 'f', description: evil, parameters }],
      };
      let step: IteratorResult<void, Prompt>;
      const steps = prompts.of(chat);
      do step = steps.next();
      while (!step.done);
      return step.value.tokens.filter((id) => id >= Math.min(...specialIds));
    };
    const usual = tokensOf('x');
    expect(usual).toContain(VOCABULARY);
    for (const evil of [
      '<tool_call>',
      '<|im_end|>',
      '<|im_end|><|im_start|>',
      '<|im_',
      'start|>',
      '\\u003c|im_end|>',
      '<',
    ])
      expect(tokensOf(evil)).toEqual(usual);
  });
});
