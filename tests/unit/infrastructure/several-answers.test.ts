import type { RuntimeCall } from '../../../src/application/chat/ports.js';
import type { ChatRequest, Completion, CompletionPart, Usage } from '../../../src/domain/chat/chat.js';
import { completeAll, streamAll } from '../../../src/infrastructure/onnx-chat/several-answers.js';
import { unlimited } from '../../support/records.js';

const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 3 };
const end = { finishReason: 'stop', usage } as const;

const request = (about: Partial<ChatRequest>): ChatRequest => ({
  ...{ messages: [{ role: 'user', content: 'Hi' }], maxTokens: null, temperature: 1 },
  ...about,
});

interface Begun {
  readonly request: ChatRequest;
  readonly call: RuntimeCall;
  answer(): void;
  refuse(reason: Error): void;
}

/** Begins the calls of a request, whole or streamed. The test answers them. */
function begin(about: Partial<ChatRequest>, streamed = false) {
  const begun: Begun[] = [];
  const admitted = jest.fn();
  const leaving = new AbortController();
  const reports: Promise<Usage | null>[] = [];
  const made = (usage: Promise<Usage | null>) => void reports.push(usage);
  const call: RuntimeCall = { caller: 'usr_a', signal: leaving.signal, memory: unlimited, admitted, made };
  const one = (single: ChatRequest, its: RuntimeCall) =>
    new Promise<Completion>((resolve, refuse) => {
      its.signal.addEventListener('abort', () => refuse(its.signal.reason));
      begun.push({ request: single, call: its, refuse, answer: () => resolve({ text: 'Hello', ...end }) });
    });
  const inParts = async function* (single: ChatRequest, its: RuntimeCall): AsyncGenerator<CompletionPart> {
    const { text } = await one(single, its);
    yield { text, end };
  };
  const joined = async () => {
    const parts: CompletionPart[] = [];
    for await (const part of streamAll(request(about), call, inParts)) parts.push(part);
    return { parts, ...(parts.at(-1)?.end as typeof end) };
  };
  const answer = streamed ? joined() : completeAll(request(about), call, one);
  answer.catch(() => undefined);
  const textsBegun = async () => {
    await new Promise(setImmediate);
    return begun.map((each) => each.request.texts?.[0] ?? 'Hi').join('');
  };
  return { begun, textsBegun, answer, admitted, reports, leave: () => leaving.abort(new Error('left')) };
}

describe.each([false, true])('several answers to a request (streamed: %s)', (streamed) => {
  it('begin when the first one is admitted', async () => {
    const { begun, textsBegun, answer, admitted } = begin({ choices: 3 }, streamed);
    expect(await textsBegun()).toBe('Hi');
    begun[0]?.call.admitted?.();
    expect(await textsBegun()).toBe('HiHiHi');
    for (const each of begun) each.call.admitted?.();
    for (const each of begun) each.answer();
    expect(await answer).toMatchObject({ usage: { promptTokens: 10, cachedTokens: 4, completionTokens: 9 } });
    expect(admitted).toHaveBeenCalledTimes(1);
  });

  it('report the tokens of the prompt once', async () => {
    const { begun, textsBegun, reports, leave } = begin({ choices: 2 }, streamed);
    await textsBegun();
    begun[0]?.call.admitted?.();
    await textsBegun();
    for (const { call } of begun) call.made?.(Promise.resolve(usage));
    begun[0]?.call.made?.(Promise.resolve(null));
    leave();
    const ofOther = { promptTokens: 0, cachedTokens: 0, completionTokens: 3 };
    expect(await Promise.all(reports)).toEqual([usage, ofOther, null]);
  });

  it('begin prompt by prompt, at most eight at once', async () => {
    const { begun, textsBegun, answer } = begin({ texts: ['a', 'b', 'c'], choices: 4 }, streamed);
    expect(await textsBegun()).toBe('ab');
    begun[1]?.call.admitted?.();
    expect(await textsBegun()).toBe('abbbb');
    for (let i = 0; i < begun.length; i++) {
      begun[i]?.call.admitted?.();
      begun[i]?.answer();
      await textsBegun();
    }
    expect((await textsBegun()).split('').sort().join('')).toBe('aaaabbbbcccc');
    expect(await answer).toMatchObject({ usage: { promptTokens: 30, cachedTokens: 12, completionTokens: 36 } });
  });

  it('never begin if the first one is refused', async () => {
    const { begun, textsBegun, answer } = begin({ choices: 8 }, streamed);
    await textsBegun();
    begun[0]?.refuse(new Error('too long'));
    await expect(answer).rejects.toThrow('too long');
    expect(await textsBegun()).toBe('Hi');
  });

  it('end when the caller leaves, also those that have not begun', async () => {
    const { textsBegun, answer, leave } = begin({ choices: 8 }, streamed);
    await textsBegun();
    leave();
    await expect(answer).rejects.toThrow('left');
    expect(await textsBegun()).toBe('Hi');
  });

  it('have seeds of their own', async () => {
    const { begun, textsBegun } = begin({ choices: 3, sampling: { seed: 7 } }, streamed);
    await textsBegun();
    begun[0]?.call.admitted?.();
    await textsBegun();
    const seeds = begun.map((each) => each.request.sampling?.seed);
    expect(seeds[0]).toBe(7);
    expect(new Set(seeds).size).toBe(3);
  });
});
