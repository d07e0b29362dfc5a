import type { ResponseFormat } from '../../../src/domain/chat/chat.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

const format = (schema: JsonObject): ResponseFormat => ({ json: 'schema', name: 'answer', schema, strict: true });

describe('an answer with a response format', () => {
  const rig = new ChildRuntimesRig({ atOnce: 16, queue: 100 });
  beforeAll(() => rig.start(tinyChat));
  afterAll(() => rig.runtimes.close());

  it('is an object for json_object, also as a stream', async () => {
    const about = { responseFormat: { json: 'object' }, maxTokens: 60 } as const;
    const free = rig.ask('What is 7 + 5?');
    const [{ answer }, whole] = await Promise.all([
      rig.askInParts('What is 7 + 5?', about),
      rig.ask('What is 7 + 5?', about),
    ]);
    expect(answer.text).toBe(whole.text);
    expect(answer.text[0]).toBe('{');
    expect((await free).text).toBe('7 + 5 = 12.');
  });

  it('is refused with the path and the name of an unsupported keyword', async () => {
    const schema = { properties: { a: { not: { type: 'string' } } } };
    await expect(rig.ask('Hi', { responseFormat: format(schema) })).rejects.toMatchObject({
      code: 'invalid_request',
      advice: {
        details: [{ path: 'response_format.json_schema.schema.properties.a', message: expect.stringContaining('not') }],
      },
    });
  });

  it('has only allowed tokens, with any sampling options', async () => {
    const schema = {
      type: 'object',
      properties: { b: { enum: ['yes', 'no'] }, a: { type: 'integer', minimum: 1, maximum: 3 } },
    };
    const all = { ...schema, required: ['a', 'b'] };
    const prompt = 'What is the capital of France?';
    const greedy = await rig.ask(prompt, { responseFormat: format(all) });
    expect(greedy).toMatchObject({
      finishReason: 'stop',
      text: expect.stringMatching(/^\{"b": ?"(yes|no)", ?"a": ?[1-3]\}$/),
    });
    const drawn = {
      temperature: 2,
      sampling: { seed: 3, topP: 0.9, topLogprobs: 2, presencePenalty: 1, logitBias: { 5: 100 } },
    };
    const [one, other] = await Promise.all(
      [1, 2].map(() => rig.askInParts(prompt, { ...drawn, responseFormat: format(all) })),
    );
    expect(one?.answer.text).toBe(other?.answer.text);
    expect(one?.answer.text).toMatch(/^\{"b": ?"(yes|no)", ?"a": ?[1-3]\}$/);
    expect(one?.answer.logprobs?.map(({ token }) => token).join('')).toBe(one?.answer.text);
    // Calls with and without a response format share the cached prefix of the prompt.
    expect(greedy.promptTokens - (await rig.ask(prompt, { responseFormat: format(all) })).cachedTokens).toBeLessThan(3);
    const stopped = await rig.ask(prompt, { responseFormat: format(all), sampling: { stop: ['"a"'] } });
    expect(stopped).toMatchObject({ finishReason: 'stop', text: expect.stringMatching(/^\{"b": ?"(yes|no)", ?$/) });
    const [first] = (await rig.ask(prompt, { sampling: { topLogprobs: 0 } })).logprobs ?? [];
    expect(first?.token).not.toBe('{');
  });

  it('matches its pattern, with characters of any number of bytes', async () => {
    const pattern = '^°[£-¥][а-я][ก-ค][퐀-한][😀-😃][\\u{100000}-\\u{100001}]$';
    const { text, finishReason } = await rig.ask('Hi', { responseFormat: format({ type: 'string', pattern }) });
    expect([finishReason, JSON.parse(text)]).toEqual(['stop', expect.stringMatching(new RegExp(pattern, 'u'))]);
  });

  /** Returns a format with a pattern that backtracks without end. */
  const endless = (i: number) => format({ enum: [`${'a'.repeat(50)}${i}`], pattern: '^(a+)+$' });

  it('waits for a place to make its grammar; one caller cannot take all places', async () => {
    const controller = new AbortController();
    const about = { signal: controller.signal, caller: 'usr_other' };
    let over = 0;
    const calls = Array.from({ length: 9 }, (_, i) =>
      rig.ask('Hi', { ...about, responseFormat: endless(i) }).finally(() => {
        over += 1;
      }),
    );
    const ends = Promise.allSettled(calls);
    const others = Array.from({ length: 9 }, (_, i) => rig.ask('Hi', { responseFormat: format({ const: i }) }));
    expect((await Promise.all(others)).map(({ text }) => text)).toEqual([...'012345678']);
    expect(over).toBeLessThan(9);
    controller.abort(new Error('gone'));
    expect((await ends).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    const next = { caller: 'usr_other', responseFormat: format({ const: 'ok' }) };
    expect((await rig.ask('Hi', next)).text).toBe('"ok"');
  });

  it('is refused if the process dies while it makes the grammar; the next process answers again', async () => {
    const call = rig.ask('Hi', { responseFormat: endless(0) });
    rig.kill();
    await expect(call).rejects.toMatchObject({ code: 'runtime_unavailable' });
    while (rig.runtimes.status('a').state !== 'ready') await rig.log.news();
    expect((await rig.ask('Hi', { responseFormat: format({ const: null }) })).text).toBe('null');
  });
});
