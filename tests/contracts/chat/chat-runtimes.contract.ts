import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRuntimes } from '../../../src/application/chat/ports/chat-runtimes.js';
import type { ChatRequest, Usage } from '../../../src/domain/chat/chat.js';
import type { RuntimeSource, RuntimeStatus } from '../../../src/domain/chat/runtime.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, statesUpTo } from '../../support/chat-runtimes-rig.js';

export function chatRuntimesContract(adapter: string, open: (limits: ChatRuntimesLimits) => ChatRuntimesUnderTest) {
  describe(`ChatRuntimes run by ${adapter}`, () => {
    let rig: ChatRuntimesUnderTest;
    let runtimes: ChatRuntimes;

    const use = (limits: Partial<ChatRuntimesLimits> = {}) => {
      rig = open({ queue: 1, timeoutMs: 20_000, babbling: false, ...limits });
      ({ runtimes } = rig);
    };
    afterEach(() => rig.runtimes.close());

    const reaches = (state: RuntimeStatus['state'], id = 'a') => statesUpTo(runtimes, state, id);

    const started = async (source: RuntimeSource, id = 'a') => {
      runtimes.start(id, source);
      await reaches('ready', id);
    };

    type Texts = Partial<Record<'text' | 'id' | 'by', string>>;
    type About = Partial<ChatRequest> & Texts & { signal?: AbortSignal; admitted?: () => void };
    const ask = ({ text = rig.asked, id = 'a', by = 'usr_a', signal, admitted, ...rest }: About = {}) => {
      const messages = [{ role: 'user' as const, content: text }];
      const request = { messages, maxTokens: null, temperature: 0, ...rest };
      const answer = runtimes.complete(id, request, by, signal ?? new AbortController().signal, admitted);
      answer.catch(() => undefined);
      return answer;
    };

    /** A call that the slow model works on. It stays until its signal is aborted. */
    const occupy = (by?: string) => {
      const controller = new AbortController();
      return {
        answer: ask({ signal: controller.signal, ...(by && { by }) }),
        leave: (why: unknown) => controller.abort(why),
      };
    };

    const tooLong = () => 'word '.repeat(rig.context);
    const code = (name: string) => expect.objectContaining({ code: name });

    describe('start', () => {
      beforeEach(() => use());

      it('loads, and is ready then', async () => {
        runtimes.start('a', rig.model);
        expect(await reaches('ready')).toEqual([
          { state: 'loading', reason: null },
          { state: 'ready', reason: null },
        ]);
      });

      it('says which part of a broken model is to blame', async () => {
        runtimes.start('a', rig.broken);
        const [, status] = await reaches('unavailable');
        expect(status?.reason).toMatch(rig.blame);
      });

      it('changes nothing where the same model runs', async () => {
        await started(rig.slow);
        const { answer, leave } = occupy();
        runtimes.start('a', { ...rig.slow });
        expect(runtimes.status('a').state).toBe('ready');
        expect(rig.processes()).toBe(1);
        leave('enough');
        await expect(answer).rejects.toBe('enough');
      });

      it('changes nothing where the same model loads', async () => {
        runtimes.start('a', rig.model);
        runtimes.start('a', rig.model);
        await reaches('ready');
        expect(rig.processes()).toBe(1);
      });

      it('begins anew where the runtime is unavailable', async () => {
        runtimes.start('a', rig.broken);
        await reaches('unavailable');
        rig.mend();
        runtimes.start('a', rig.broken);
        expect(runtimes.status('a')).toEqual({ state: 'loading', reason: null });
        expect(await reaches('ready')).toHaveLength(2);
      });

      it('begins anew from another source', async () => {
        await started(rig.slow);
        const { answer } = occupy();
        runtimes.start('a', rig.model);
        expect(runtimes.status('a').state).toBe('loading');
        await expect(answer).rejects.toEqual(code('runtime_loading'));
        await reaches('ready');
        expect(await ask()).toMatchObject({ finishReason: 'stop' });
        expect(rig.processes()).toBe(1);
      });

      it('brings back what died: unavailable, loading, ready', async () => {
        await started(rig.model);
        rig.crash('a');
        await reaches('unavailable');
        const seen = await reaches('ready');
        expect(seen.map(({ state }) => state)).toEqual(['unavailable', 'loading', 'ready']);
        expect(seen[0]?.reason).toEqual(expect.any(String));
        expect(await ask()).toMatchObject({ finishReason: 'stop' });
      });

      it('keeps runtimes apart', async () => {
        await Promise.all([started(rig.slow, 'a'), started(rig.model, 'b')]);
        occupy();
        occupy();
        expect(await ask({ id: 'b' })).toMatchObject({ finishReason: 'stop' });
        await runtimes.stop('a');
        expect(runtimes.status('b').state).toBe('ready');
      });
    });

    describe('stop', () => {
      beforeEach(() => use());

      it('resolves once the process is gone; calls in flight fail', async () => {
        await started(rig.slow);
        const calls = [ask(), ask()];
        await runtimes.stop('a');
        expect(rig.processes()).toBe(0);
        expect(runtimes.status('a')).toEqual({ state: 'stopped', reason: null });
        for (const call of calls) await expect(call).rejects.toEqual(code('runtime_stopped'));
      });

      it('is done where nothing runs', async () => {
        await runtimes.stop('a');
        expect(runtimes.status('a')).toEqual({ state: 'stopped', reason: null });
      });

      it('ends a runtime that loads', async () => {
        runtimes.start('a', rig.model);
        await runtimes.stop('a');
        expect(runtimes.status('a').state).toBe('stopped');
        expect(rig.processes()).toBe(0);
      });

      it('ends a runtime that waits to be brought back', async () => {
        await started(rig.model);
        rig.crash('a');
        await reaches('unavailable');
        await runtimes.stop('a');
        await pause(300);
        expect(runtimes.status('a').state).toBe('stopped');
        expect(rig.processes()).toBe(0);
      });

      it('lets a start during it follow', async () => {
        await started(rig.model);
        const stopped = runtimes.stop('a');
        expect(runtimes.status('a').state).toBe('stopped');
        runtimes.start('a', rig.model);
        await stopped;
        await reaches('ready');
        expect(rig.processes()).toBe(1);
      });

      it('lets a start after the first of two stops follow', async () => {
        await started(rig.model);
        const [first, second] = [runtimes.stop('a'), runtimes.stop('a')];
        await first;
        runtimes.start('a', rig.model);
        await second;
        await reaches('ready');
        expect(rig.processes()).toBe(1);
      });

      it('leaves what was asked for last, however fast it is asked', async () => {
        const stops: Promise<void>[] = [];
        for (let i = 0; i < 6; i++) {
          runtimes.start('a', i % 2 ? rig.model : rig.slow);
          if (i % 3) await pause(i * 10);
          stops.push(runtimes.stop('a'));
        }
        await Promise.all(stops);
        expect(rig.processes()).toBe(0);
        runtimes.start('a', rig.model);
        await reaches('ready');
        expect(rig.processes()).toBe(1);
      });

      it('ends every runtime on close', async () => {
        await Promise.all([started(rig.slow, 'a'), started(rig.model, 'b')]);
        const call = ask();
        await runtimes.close();
        await expect(call).rejects.toEqual(code('runtime_stopped'));
        expect(['a', 'b', 'c'].map((id) => runtimes.status(id).state)).toEqual(['stopped', 'stopped', 'stopped']);
        expect(rig.processes()).toBe(0);
      });
    });

    describe('complete', () => {
      it('answers, the same each time at temperature 0', async () => {
        use();
        await started(rig.model);
        const answer = await ask();
        expect(answer.text).not.toBe('');
        expect(answer).toMatchObject({ finishReason: 'stop' });
        expect(answer.usage?.promptTokens).toBeGreaterThan(0);
        expect(answer.usage?.completionTokens).toBeGreaterThan(1);
        const { text, finishReason } = answer;
        expect(await ask()).toMatchObject({ text, finishReason });
      });

      it('cuts the answer at maxTokens', async () => {
        use();
        await started(rig.model);
        expect(await ask({ maxTokens: 1 })).toMatchObject({ finishReason: 'length', usage: { completionTokens: 1 } });
      });

      it('refuses by the state of the runtime', async () => {
        use();
        await expect(ask()).rejects.toEqual(code('runtime_stopped'));
        runtimes.start('a', rig.broken);
        await expect(ask()).rejects.toEqual(code('runtime_loading'));
        await reaches('unavailable');
        await expect(ask()).rejects.toEqual(code('runtime_unavailable'));
        await expect(ask()).rejects.toThrow(rig.blame);
      });

      it('fails when the runtime dies meanwhile', async () => {
        use();
        await started(rig.slow);
        const calls = [ask(), ask()];
        rig.crash('a');
        for (const call of calls) await expect(call).rejects.toEqual(code('runtime_unavailable'));
      });

      it('refuses what does not fit the context', async () => {
        use();
        await started(rig.model);
        await expect(ask({ text: tooLong() })).rejects.toEqual(code('context_length_exceeded'));
        await expect(ask({ maxTokens: rig.context })).rejects.toEqual(code('context_length_exceeded'));
        if (!rig.countsFirst) return;
        await started(rig.slow, 'b');
        const calls = [ask({ id: 'b' }), ask({ id: 'b' })];
        await expect(ask({ id: 'b', text: tooLong() })).rejects.toEqual(code('context_length_exceeded'));
        await runtimes.stop('b');
        for (const call of calls) await expect(call).rejects.toEqual(code('runtime_stopped'));
      });

      it('turns away what finds the queue full, and says when to come back', async () => {
        use();
        await started(rig.slow);
        const calls = [occupy(), occupy()];
        const refused = await ask().catch((error) => error);
        expect(refused).toMatchObject({ code: 'model_busy' });
        expect(Number.isInteger(refused.advice.retryAfterSeconds)).toBe(true);
        expect(refused.advice.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(refused.advice.retryAfterSeconds).toBeLessThanOrEqual(60);
        for (const { leave } of calls) leave('enough');
      });

      it('answers in order of arrival', async () => {
        use({ queue: 3 });
        await started(rig.model);
        const order: number[] = [];
        await Promise.all([0, 1, 2, 3].map((nth) => ask().then(() => order.push(nth))));
        expect(order).toEqual([0, 1, 2, 3]);
      });

      it('serves callers in turns, however many calls one of them has', async () => {
        use({ queue: 4 });
        await started(rig.model);
        const order: string[] = [];
        const calls = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) =>
          ask({ by: name.charAt(0), maxTokens: 2 }).then(() => order.push(name)),
        );
        await Promise.all(calls);
        expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
      });

      it('gives a place in a full queue to the caller with fewer calls there', async () => {
        use({ queue: 3 });
        await started(rig.slow);
        const greedy = [occupy('a'), occupy('a'), occupy('a'), occupy('a')];
        const modest = occupy('b');
        await expect(greedy[3]?.answer).rejects.toEqual(code('model_busy'));
        await expect(ask({ by: 'b' })).rejects.toEqual(code('model_busy'));
        await expect(ask({ by: 'a' })).rejects.toEqual(code('model_busy'));
        for (const { leave } of [...greedy.slice(0, 3), modest]) leave('enough');
        await expect(modest.answer).rejects.toBe('enough');
      });

      it('tells of each call whose turn has come, and of no other', async () => {
        use();
        await started(rig.slow);
        const [begun, working, waiting] = [[] as string[], new AbortController(), new AbortController()];
        const call = (name: string, signal?: AbortSignal) => ask({ signal, admitted: () => begun.push(name) });
        const calls = [call('working', working.signal), call('waiting', waiting.signal), call('refused')];
        await expect(calls[2]).rejects.toEqual(code('model_busy'));
        for (const one of [waiting, working]) one.abort('gone');
        for (const one of calls.slice(0, 2)) await expect(one).rejects.toBe('gone');
        expect(begun).toEqual(['working']);
      });

      it('gives up after its time, waiting included, and goes on with others', async () => {
        use({ timeoutMs: 150 });
        await Promise.all([started(rig.slow), started(rig.model, 'b')]);
        const calls = [ask(), ask()];
        for (const call of calls) await expect(call).rejects.toEqual(code('inference_timeout'));
        // Both places are free again, and it is the timeout that ends this one too.
        await expect(ask()).rejects.toEqual(code('inference_timeout'));
        expect(runtimes.status('a').state).toBe('ready');
      });

      it('refuses an answer that is no completion', async () => {
        use({ babbling: true });
        await started(rig.babbling);
        await expect(ask()).rejects.toEqual(code('runtime_invalid_response'));
        await expect(ask()).rejects.toEqual(code('runtime_invalid_response'));
      });
    });

    describe('figures', () => {
      const figures = (id = 'a') => runtimes.figures().get(id);
      beforeEach(() => use());

      it('are there for what is started, until it is stopped', async () => {
        expect([...runtimes.figures().keys()]).toEqual([]);
        runtimes.start('a', rig.model);
        expect([...runtimes.figures().keys()]).toEqual(['a']);
        await reaches('ready');
        await runtimes.stop('a');
        expect([...runtimes.figures().keys()]).toEqual([]);
      });

      it('tell how many wait and how many have their turn', async () => {
        await started(rig.slow);
        expect(figures()).toMatchObject({ waiting: 0, running: 0 });
        const calls = [occupy(), occupy()];
        while (figures()?.waiting === 0) await pause(1);
        expect(figures()).toMatchObject({ waiting: 1, running: 1 });
        for (const { leave } of calls) leave('enough');
        expect(figures()).toMatchObject({ waiting: 0, running: 0, completionTokens: 0, answer: { count: 0 } });
      });

      it('count answers, their tokens and their times, on after a crash', async () => {
        await started(rig.model);
        const usages = [(await ask()).usage, (await ask({ maxTokens: 1 })).usage];
        const sum = (field: keyof Usage) => usages.reduce((sum, usage) => sum + (usage?.[field] ?? 0), 0);
        const completionTokens = sum('completionTokens');
        const [promptTokens, cachedTokens] = [sum('promptTokens'), sum('cachedTokens')];
        expect(figures()).toMatchObject({ promptTokens, cachedTokens, completionTokens, answer: { count: 2 } });
        rig.crash('a');
        await reaches('unavailable');
        await reaches('ready');
        expect(figures()).toMatchObject({ completionTokens, answer: { count: 2 } });
      });
    });

    describe('an aborted signal', () => {
      beforeEach(() => use());

      it('ends a call before it begins', async () => {
        await started(rig.model);
        await expect(ask({ signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
      });

      it('gives up the place in the queue at once', async () => {
        await started(rig.slow);
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

      it('stops the generation: the next call gets its turn', async () => {
        await started(rig.slow);
        const [working, waiting] = [occupy(), ask({ maxTokens: 1 })];
        await expect(ask()).rejects.toEqual(code('model_busy'));
        const reason = new Error('gone');
        working.leave(reason);
        await expect(working.answer).rejects.toBe(reason);
        expect(await waiting).toMatchObject({ usage: { completionTokens: 1 } });
      });

      it('changes nothing once the answer is given', async () => {
        await started(rig.model);
        const controller = new AbortController();
        const answer = await ask({ signal: controller.signal });
        controller.abort('late');
        expect(await ask()).toMatchObject({ text: answer.text });
      });
    });
  });
}
