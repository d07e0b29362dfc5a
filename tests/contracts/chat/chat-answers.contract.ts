import type { ChatRuntimes } from '../../../src/application/chat/ports.js';
import type { Usage } from '../../../src/domain/chat/chat.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';
import { until } from '../../support/until.js';

/** Tests the promises of ChatRuntimes about calls to a ready runtime. */
export function chatAnswersContract(adapter: string, open: (limits: ChatRuntimesLimits) => ChatRuntimesUnderTest) {
  describe(`Ready runtimes of ChatRuntimes, run by ${adapter},`, () => {
    let rig: ChatRuntimesUnderTest;
    let runtimes: ChatRuntimes;
    const { ask, count, occupy, started } = callsTo(() => rig);
    const use = (queue: number) => {
      rig = open({ queue, timeoutMs: 60_000, babbling: false });
      ({ runtimes } = rig);
    };

    const code = (name: string) => expect.objectContaining({ code: name });
    const figures = () => runtimes.figures().get('a');
    /** Resolves when the earlier calls of a test have ended. */
    const settled = () => ask({ maxTokens: 1 });

    describe('with one place in the queue', () => {
      beforeAll(async () => {
        use(1);
        await Promise.all([started(rig.slow), started(rig.model, 'b')]);
      });
      afterEach(settled);
      afterAll(() => runtimes.close());

      it('answer, and at temperature 0 give the same answer again', async () => {
        const answer = await ask({ id: 'b' });
        expect(answer.text).not.toBe('');
        expect(answer).toMatchObject({ finishReason: 'stop' });
        expect(answer.usage?.promptTokens).toBeGreaterThan(0);
        expect(answer.usage?.completionTokens).toBeGreaterThan(1);
        const { text, finishReason } = answer;
        expect(await ask({ id: 'b' })).toMatchObject({ text, finishReason });
      });

      it('end the answer after `maxTokens` tokens', async () => {
        const cut = await ask({ id: 'b', maxTokens: 1 });
        expect(cut).toMatchObject({ finishReason: 'length', usage: { completionTokens: 1 } });
      });

      it('refuse a prompt or a `maxTokens` that does not fit the context', async () => {
        const text = 'word '.repeat(rig.context);
        await expect(ask({ id: 'b', text })).rejects.toEqual(code('context_length_exceeded'));
        await expect(ask({ id: 'b', maxTokens: rig.context })).rejects.toEqual(code('context_length_exceeded'));
        if (!rig.countsFirst) return;
        const calls = [occupy(), occupy()];
        await expect(ask({ text })).rejects.toEqual(code('context_length_exceeded'));
        for (const { leave } of calls) leave('enough');
      });

      it('count the tokens of a prompt, also while the queue is full', async () => {
        const calls = [occupy(), occupy()];
        const short = await count();
        const long = await count({ text: 'word '.repeat(9) });
        for (const { leave } of calls) leave('enough');
        expect(long).toBeGreaterThan(short);
        const { usage } = await ask({ id: 'b' });
        if (rig.countsFirst) expect(short).toBe(usage?.promptTokens);
        else expect(short).toBeGreaterThan(0);
        expect(await count({ maxTokens: 2 * rig.context })).toBe(short);
      });

      it('count no tokens for a caller who has left, and none without a runtime', async () => {
        await expect(count({ signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
        await expect(count({ id: 'c' })).rejects.toEqual(code('runtime_stopped'));
      });

      it('refuse a call when the queue is full, and say when to try again', async () => {
        const calls = [occupy(), occupy()];
        const refused = await ask().catch((error) => error);
        expect(refused).toMatchObject({ code: 'model_busy' });
        expect(Number.isInteger(refused.advice.retryAfterSeconds)).toBe(true);
        expect(refused.advice.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(refused.advice.retryAfterSeconds).toBeLessThanOrEqual(60);
        for (const { leave } of calls) leave('enough');
      });

      it('call `admitted` when it is a call’s turn, and not for refused or aborted calls', async () => {
        const [begun, working, waiting] = [[] as string[], new AbortController(), new AbortController()];
        const call = (name: string, signal?: AbortSignal) => ask({ signal, admitted: () => begun.push(name) });
        const calls = [call('working', working.signal), call('waiting', waiting.signal), call('refused')];
        await expect(calls[2]).rejects.toEqual(code('model_busy'));
        for (const one of [waiting, working]) one.abort('gone');
        for (const one of calls.slice(0, 2)) await expect(one).rejects.toBe('gone');
        expect(begun).toEqual(['working']);
      });

      it('report the numbers of waiting and running calls, and count no aborted call as an answer', async () => {
        const { completionTokens, answer } = figures() ?? {};
        const { count } = answer ?? {};
        expect(figures()).toMatchObject({ waiting: 0, running: 0 });
        const calls = [occupy(), occupy()];
        await until('one waits', () => figures()?.waiting === 1, 1);
        expect(figures()).toMatchObject({ waiting: 1, running: 1 });
        for (const { leave } of calls) leave('enough');
        expect(figures()).toMatchObject({ waiting: 0, running: 0, completionTokens, answer: { count } });
      });

      it('reject a call whose signal is already aborted', async () => {
        await expect(ask({ id: 'b', signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
      });

      it('free the place in the queue at once when the signal is aborted', async () => {
        const [working, waiting] = [occupy(), occupy()];
        await expect(ask()).rejects.toEqual(code('model_busy'));
        waiting.leave('gone');
        const next = occupy();
        await expect(waiting.answer).rejects.toBe('gone');
        await expect(ask()).rejects.toEqual(code('model_busy'));
        next.leave('enough');
        working.leave('enough');
        await expect(next.answer).rejects.toBe('enough');
      });

      it('report the tokens of a complete answer, or nothing', async () => {
        const reports: Promise<Usage | null>[] = [];
        const { usage } = await ask({ id: 'b', made: (usage) => void reports.push(usage) });
        const { promptTokens, cachedTokens, completionTokens } = usage as Usage;
        expect(reports.length).toBeLessThanOrEqual(1);
        for (const made of await Promise.all(reports))
          expect(made).toEqual({ promptTokens, cachedTokens, completionTokens });
      });

      it('report the tokens of a cancelled answer, or nothing', async () => {
        const leaving = new AbortController();
        const reports: Promise<Usage | null>[] = [];
        const made = (usage: Promise<Usage | null>) => void reports.push(usage);
        const answer = ask({ id: 'a', signal: leaving.signal, made });
        await until('it is admitted', () => figures()?.running === 1, 1);
        leaving.abort('gone');
        await expect(answer).rejects.toBe('gone');
        expect(reports.length).toBeLessThanOrEqual(1);
        for (const usage of await Promise.all(reports))
          expect(usage).toEqual({
            promptTokens: expect.any(Number),
            cachedTokens: expect.any(Number),
            completionTokens: expect.any(Number),
          });
      });

      it('stop the generation when the signal is aborted, so that the next call begins', async () => {
        const [working, waiting] = [occupy(), ask({ maxTokens: 1 })];
        await expect(ask()).rejects.toEqual(code('model_busy'));
        const reason = new Error('gone');
        working.leave(reason);
        await expect(working.answer).rejects.toBe(reason);
        expect(await waiting).toMatchObject({ usage: { completionTokens: 1 } });
      });
    });

    describe('with three places in the queue', () => {
      const PLACES = 3;
      beforeAll(async () => {
        use(PLACES);
        await started(rig.slow);
      });
      afterEach(settled);
      afterAll(() => runtimes.close());

      /**
       * Makes a call for each name, by the caller in its first letter. All calls wait at the same time. Returns the
       * names in the order of the answers.
       */
      const inOrder = async (names: readonly string[]) => {
        const order: string[] = [];
        const working = occupy('c');
        const calls = names.map((name) => ask({ by: name.charAt(0), maxTokens: 1 }).then(() => order.push(name)));
        await until('all wait', () => figures()?.waiting === names.length, 1);
        working.leave('enough');
        await Promise.all(calls);
        return order;
      };

      it('answer in order of arrival', async () => {
        expect(await inOrder(['a1', 'a2', 'a3'])).toEqual(['a1', 'a2', 'a3']);
      });

      it('serve callers in turns, also when one caller has more calls than another', async () => {
        expect(await inOrder(['a1', 'a2', 'b1'])).toEqual(['a1', 'b1', 'a2']);
      });

      it('give a place in a full queue to the caller with fewer calls there', async () => {
        const greedy = Array.from({ length: 1 + PLACES }, () => occupy('a'));
        const modest = occupy('b');
        await expect(greedy.at(-1)?.answer).rejects.toEqual(code('model_busy'));
        await expect(ask({ by: 'b' })).rejects.toEqual(code('model_busy'));
        await expect(ask({ by: 'a' })).rejects.toEqual(code('model_busy'));
        for (const { leave } of [...greedy.slice(0, -1), modest]) leave('enough');
        await expect(modest.answer).rejects.toBe('enough');
      });
    });
  });
}
