import { PartBuffer } from '../../../src/infrastructure/onnx-chat/part-buffer.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { tinyChat, tokenId } from '../../support/onnx/model-folders.js';

describe('an answer in parts', () => {
  const rig = new ChildRuntimesRig({ atOnce: 16, queue: 8 });
  beforeAll(() => rig.start(tinyChat));
  afterAll(() => rig.runtimes.close());

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
    const { logprobs = [], completionTokens, text } = plain;
    expect(logprobs).toHaveLength(completionTokens);
    expect(logprobs.map(({ token }) => token).join('')).toBe(text);
    for (const { top, ...chosen } of logprobs) expect(top).toEqual([chosen, expect.anything(), expect.anything()]);
    for (const part of parts) expect((part.logprobs ?? []).map(({ token }) => token).join('')).toBe(part.text);
    const logitBias = { [tokenId('7')]: -100 };
    const drawn = await rig.ask('What is 7 + 5?', { temperature: 2, sampling: { topLogprobs: 3, logitBias, seed: 1 } });
    expect(drawn.logprobs?.[0]?.top).toEqual(logprobs[0]?.top);
    expect(drawn.logprobs?.[0]?.logprob).toBeLessThan(-2);
    expect(await rig.ask('Hi', { sampling: { topLogprobs: 0, logitBias: { 508: 100 } } })).toMatchObject({
      text: '',
      logprobs: [],
    });
  });

  it('never has a token that a bias forbids', async () => {
    const forbidden = { sampling: { logitBias: { [tokenId('1')]: -100, [tokenId('2')]: -100 } } };
    expect((await rig.ask('What is 7 + 5?', forbidden)).text).not.toMatch(/[12]/);
    const unknown = rig.ask('Hi', { sampling: { logitBias: { 508: 1, 509: 1 } } });
    await expect(unknown).rejects.toMatchObject({
      code: 'invalid_request',
      advice: { details: [{ path: 'logit_bias.509' }] },
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
