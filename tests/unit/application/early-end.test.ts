import { EarlyEnd } from '../../../src/application/spend/early-end.js';
import type { ChatRequest, Usage } from '../../../src/domain/chat/chat.js';

const request = (about: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: 'user', content: 'four' }],
  maxTokens: 7,
  temperature: 1,
  ...about,
});
const usage = (promptTokens: number, completionTokens: number, cachedTokens = 0): Promise<Usage> =>
  Promise.resolve({ promptTokens, cachedTokens, completionTokens });
const free = { tokensIn: null, tokensOut: null, firstToken: null };

describe('a call that ended early', () => {
  it('has the sum of the tokens that a chat worker has made for its answers', async () => {
    const end = new EarlyEnd(request({ choices: 4 }));
    for (const report of [usage(5, 3, 2), usage(0, 4)]) end.made(report);
    const figures = { tokensIn: 5, tokensCached: 2, tokensOut: 7, firstToken: null, isCharged: true };
    expect(await end.ofWhole()).toEqual(figures);
    expect(await end.ofStream(0.5)).toEqual({ ...figures, firstToken: 0.5 });
  });

  it('has the reported tokens of a whole answer, and none without budgets if none are reported', async () => {
    const end = new EarlyEnd(request(), { count: 1 }, { promptTokens: 30 });
    expect(await end.ofAnswer(await usage(5, 3, 2))).toMatchObject({ tokensIn: 5, tokensCached: 2, tokensOut: 3 });
    expect(await new EarlyEnd(request()).ofAnswer(null)).toMatchObject({ tokensIn: null, tokensOut: null });
  });

  it('costs nothing if its worker has made nothing', async () => {
    const end = new EarlyEnd(request());
    end.made(usage(5, 0));
    expect(await end.ofWhole()).toEqual(free);
    expect(await new EarlyEnd(request()).ofStream(null)).toEqual(free);
  });

  it.each(['no worker', 'a worker that is gone'])('with %s counts the parts of a stream, or the bound', async (who) => {
    const end = new EarlyEnd(request({ choices: 2 }));
    if (who !== 'no worker') for (const report of [usage(5, 3), Promise.resolve(null)]) end.made(report);
    for (const text of ['a', '', 'b']) end.add({ text });
    expect(await end.ofStream(null)).toMatchObject({ tokensOut: 2, isCharged: true });
    expect(await end.ofStream(null)).toMatchObject({ tokensIn: 1 });
    expect(await end.ofWhole()).toMatchObject({ tokensIn: 1, tokensOut: 14, isCharged: true });
  });

  it('under budgets has the prompt of the hold, or at most this prompt if it is a stream', async () => {
    const messages = [{ role: 'user', content: 'sixteen letters.'.repeat(3) }] as const;
    for (const [promptTokens, ofStream] of [
      [30, 12],
      [5, 5],
    ] as const) {
      const end = new EarlyEnd(request({ messages }), { count: 1 }, { promptTokens });
      end.add({ text: 'a' });
      expect(await end.ofWhole()).toMatchObject({ tokensIn: promptTokens, tokensOut: 7 });
      expect(await end.ofStream(null)).toMatchObject({ tokensIn: ofStream, tokensOut: 1 });
      expect(await end.ofAnswer(null)).toMatchObject({ tokensIn: promptTokens, tokensOut: 7 });
    }
  });

  it.each([
    [1.5, 2],
    [1e30, 1e9],
    [Number.MAX_SAFE_INTEGER, 1e9],
    [0, 512],
    [-1, 512],
    [null, 512],
  ])('has a whole number of tokens for the bound %d', async (maxTokens, tokensOut) => {
    expect(await new EarlyEnd(request({ maxTokens })).ofWhole()).toMatchObject({ tokensOut });
  });
});
