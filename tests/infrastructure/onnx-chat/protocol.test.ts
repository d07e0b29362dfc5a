import { WaitEstimate } from '../../../src/infrastructure/chat-runtimes/fair-queue.js';
import { callOf, reportOf } from '../../../src/infrastructure/onnx-chat/protocol.js';

describe('a report', () => {
  const completed = {
    type: 'completed',
    call: 3,
    text: 'Hi',
    finishReason: 'stop',
    promptTokens: 5,
    cachedTokens: 2,
    completionTokens: 1,
    firstTokenMs: 0.5,
    betweenTokensMs: [0.5],
    tookMs: 1.5,
  };

  const token = { token: 'H', bytes: [72], logprob: -1 };
  const parts = { type: 'parts', parts: [{ call: 3, text: 'H', logprobs: [{ ...token, top: [token] }] }] };

  it.each([
    { type: 'ready', task: 'chat', maxBatch: 8 },
    { type: 'broken', reason: 'x' },
    { type: 'cancelled', call: 0 },
    completed,
    parts,
  ])('is accepted: %j', (message) => {
    expect(reportOf(message)).toEqual(message);
  });

  it.each([
    null,
    undefined,
    {},
    { type: 'toString' },
    { type: 'broken' },
    { type: 'ready', task: 'chat', maxBatch: 0 },
    { type: 'tokenized', call: 1, promptTokens: -1, room: 1 },
    { type: 'tokenized', call: 1.5, promptTokens: 1, room: 1 },
    { type: 'tokenized', call: 1, promptTokens: 1 },
    { type: 'parts', parts: [{ call: 1 }] },
    { type: 'parts', parts: [{ call: 1, text: '', logprobs: [token] }] },
    { type: 'too_long', call: 1, promptTokens: 9, context: 8 },
    { ...completed, text: null },
    { ...completed, finishReason: 'abort' },
    { ...completed, completionTokens: '1' },
    { ...completed, tookMs: Number.NaN },
    { ...completed, call: undefined },
  ])('is refused: %j', (message) => {
    expect(reportOf(message)).toBeNull();
  });

  it('can name its call, even if it is refused', () => {
    expect([{ call: 4 }, { call: '4' }, null, 'x'].map(callOf)).toEqual([4, null, null, null]);
  });
});

describe('the waiting time', () => {
  it('is 1 to 60 whole seconds, and depends on the latest answers and the number of calls ahead', () => {
    const time = new WaitEstimate();
    expect(time.seconds(1)).toBe(1);
    time.record(3_000);
    time.record(6_100);
    expect(time.seconds(1)).toBe(5);
    expect(time.seconds(4)).toBe(19);
    expect(time.seconds(0.5)).toBe(3);
    for (let i = 0; i < 8; i++) time.record(500_000);
    expect(time.seconds(1)).toBe(60);
    for (let i = 0; i < 8; i++) time.record(20);
    expect(time.seconds(1)).toBe(1);
  });
});
