import { createHash } from 'node:crypto';
import type { ResponseFormat } from '../../../src/domain/chat/chat.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { PartBuffer } from '../../../src/infrastructure/onnx-chat/part-buffer.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { endId, ModelFolders, tinyChat, tokenId, VOCABULARY, withFields } from '../../support/onnx/model-folders.js';

const rig = new ChildRuntimesRig({ atOnce: 16, queue: 100, timeoutMs: 60_000 });
const folders = new ModelFolders();
beforeAll(() => rig.start(tinyChat));
afterAll(() => rig.runtimes.close().finally(() => folders.remove()));

describe('an answer in parts', () => {
  it('is the whole answer, token by token, also for sixteen callers at once', async () => {
    const lands = ['France', 'Italy', 'Spain', 'Germany', 'Portugal', 'Japan', 'Egypt', 'Peru'];
    const questions = [...lands.map((land) => `What is the capital of ${land}?`), ...lands.map((_, i) => `${i} + 5?`)];
    const alone: unknown[] = [];
    for (const question of questions) alone.push(await rig.ask(question, { caller: question }));
    const together = await Promise.all(
      questions.map((question, i) => rig.askInParts(question, { caller: `usr_${i}` })),
    );
    expect(together.map(({ answer }) => answer)).toEqual(alone);
    // Parts that wait for a slow reader are joined.
    expect(Math.max(...together.map(({ parts }) => parts.length))).toBeGreaterThan(3);
    for (const { parts, answer } of together) expect(parts.length).toBeLessThanOrEqual(answer.completionTokens + 1);
    expect(rig.runtimes.figures().get('a')?.betweenTokens.count).toBeGreaterThan(100);
  });

  it('ends before a stop text and sends no part of it, like a whole answer', async () => {
    const about = { sampling: { stop: [', 9', '7, 8, 9, 1'] } };
    const { parts, answer } = await rig.askInParts('Count from 1 to 50.', about);
    expect(answer).toMatchObject({ text: '1, 2, 3, 4, 5, 6, 7, 8', finishReason: 'stop' });
    expect(parts.every(({ text }) => !text.includes('9'))).toBe(true);
    const { cachedTokens: _, ...whole } = await rig.ask('Count from 1 to 50.', about);
    expect(answer).toMatchObject(whole);
  });

  it('draws the same again with the same seed, in a batch or alone', async () => {
    const drawn = (seed: number) => ({ temperature: 2, maxTokens: 20, sampling: { seed, topP: 0.99 } });
    const alone = [await rig.ask('Hi', drawn(1)), await rig.ask('Hi', drawn(2))].map(({ text }) => text);
    expect(alone[0]).not.toBe(alone[1]);
    const calls = [1, 2, 1, 2].map((seed) => rig.askInParts('Hi', drawn(seed)));
    const greedy = rig.ask('What is 7 + 5?');
    expect((await Promise.all(calls)).map(({ answer: { text } }) => text)).toEqual([...alone, ...alone]);
    expect(await greedy).toMatchObject({ text: '7 + 5 = 12.' });
  });

  it('has the probabilities of its tokens and of the likeliest others, without the bias', async () => {
    const plain = await rig.ask('What is 7 + 5?', { sampling: { topLogprobs: 3 } });
    const { parts, answer } = await rig.askInParts('What is 7 + 5?', { sampling: { topLogprobs: 3 } });
    expect(answer.logprobs).toEqual(plain.logprobs);
    const { completionTokens, text } = plain;
    const logprobs = [...(plain.logprobs ?? [])];
    expect(logprobs).toHaveLength(completionTokens);
    expect(logprobs.map(({ token }) => token).join('')).toBe(text);
    for (const { top, ...chosen } of logprobs) expect(top).toEqual([chosen, expect.anything(), expect.anything()]);
    for (const part of parts) expect((part.logprobs ?? []).map(({ token }) => token).join('')).toBe(part.text);
    const logitBias = { [tokenId('7')]: -100 };
    const drawn = await rig.ask('What is 7 + 5?', { temperature: 2, sampling: { topLogprobs: 3, logitBias, seed: 1 } });
    const [first] = drawn.logprobs ?? [];
    expect(first?.top).toEqual(logprobs[0]?.top);
    expect(first?.logprob).toBeLessThan(-2);
    expect(await rig.ask('Hi', { sampling: { topLogprobs: 0, logitBias: { [endId]: 100 } } })).toMatchObject({
      text: '',
      logprobs: [],
    });
  });

  it('never has a token that a bias forbids', async () => {
    const forbidden = { sampling: { logitBias: { [tokenId('1')]: -100, [tokenId('2')]: -100 } } };
    expect((await rig.ask('What is 7 + 5?', forbidden)).text).not.toMatch(/[12]/);
    const unknown = rig.ask('Hi', { sampling: { logitBias: { [endId]: 1, [VOCABULARY]: 1 } } });
    await expect(unknown).rejects.toMatchObject({
      code: 'invalid_request',
      advice: { details: [{ path: `logit_bias.${VOCABULARY}` }] },
    });
    for (const token of ['-1', '1.5', '01', 'x'])
      await expect(rig.ask('Hi', { sampling: { logitBias: { [token]: 1 } } })).rejects.toThrow(`logit_bias.${token}`);
  });
});

describe('the parts that wait for their reader', () => {
  const end = { finishReason: 'stop', usage: null } as const;

  it('are joined', async () => {
    const buffer = new PartBuffer(100);
    for (const text of ['a', 'b', '']) expect(buffer.add({ text })).toBe(true);
    const parts = buffer.parts();
    expect(await parts.next()).toEqual({ value: { text: 'ab' }, done: false });
    const next = parts.next();
    buffer.add({ text: 'c' });
    buffer.add({ text: '', end });
    expect([await next, await parts.next()].map(({ value }) => value)).toEqual([{ text: 'c', end }, undefined]);
  });

  it('are limited, and dropped after a failure', async () => {
    const buffer = new PartBuffer(300);
    const token = { token: 'a', bytes: [97], logprob: -1 };
    expect(buffer.add({ text: 'a', logprobs: [{ ...token, top: [token] }] })).toBe(true);
    expect(buffer.add({ text: 'a', logprobs: [{ ...token, top: [] }] })).toBe(false);
    buffer.fail('gone');
    buffer.add({ text: 'late', end });
    await expect(buffer.parts().next()).rejects.toBe('gone');
  });
});

const format = (schema: JsonObject): ResponseFormat => ({ json: 'schema', name: 'answer', schema, strict: true });

describe('an answer with a response format', () => {
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

  it('fails if it is complete and breaks its schema; the log has the digest of the schema', async () => {
    // A faulty tokenizer, with other texts of tokens than its vocabulary says.
    const decoders = [{ type: 'ByteLevel' }, { type: 'Replace', pattern: { String: 'e' }, content: 'a' }];
    const folder = folders.like({ 'tokenizer.json': withFields({ decoder: { type: 'Sequence', decoders } }) });
    expect(await rig.start(folder, 'b')).toMatchObject({ state: 'ready' });
    const schema = { enum: ['red'] };
    const about = { id: 'b', responseFormat: format(schema) };
    const failure = { code: 'runtime_invalid_response' };
    await expect(rig.ask('Hi', about)).rejects.toMatchObject(failure);
    const read: string[] = [];
    const stream = async () => {
      for await (const { text, end } of rig.stream('Hi', about)) read.push(text, ...(end ? ['the end'] : []));
    };
    await expect(stream()).rejects.toMatchObject(failure);
    expect(read).not.toContain('the end');
    const fields = { runtime: 'b', schema_sha256: createHash('sha256').update(JSON.stringify(schema)).digest('hex') };
    const logged = rig.log.of('chat runtime broke a response format');
    expect(logged.map((line) => [line.level, line.fields])).toEqual([
      ['error', fields],
      ['error', fields],
    ]);
    expect(await rig.ask('Hi', { ...about, sampling: { stop: ['d"'] } })).toMatchObject({ text: '"ra' });
    expect(await rig.ask('Hi', { ...about, maxTokens: 1 })).toMatchObject({ finishReason: 'length' });
    await rig.runtimes.stop('b');
  });

  it('follows a schema that the validator cannot use, and one of an older draft', async () => {
    for (const [schema, text] of [
      [{ enum: [7], examples: 'seven' }, '7'],
      [{ type: 'array', items: [{ const: 1 }], minItems: 1, additionalItems: false }, '[1]'],
    ] as const)
      expect(await rig.ask('Hi', { responseFormat: format(schema as unknown as JsonObject) })).toMatchObject({ text });
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
