import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRuntime } from '../../../src/application/chat/ports.js';
import type { Usage } from '../../../src/domain/chat/chat.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';

export function chatRuntimesContract(adapter: string, open: (limits: ChatRuntimesLimits) => ChatRuntimesUnderTest) {
  describe(`ChatRuntime run by ${adapter}`, () => {
    let rig: ChatRuntimesUnderTest;
    let runtimes: ChatRuntime;

    const use = (limits: Partial<ChatRuntimesLimits> = {}) => {
      rig = open({ queue: 1, timeoutMs: 20_000, babbling: false, ...limits });
      ({ runtimes } = rig);
    };
    afterEach(() => rig.runtimes.close());

    const { ask, occupy, reaches, started } = callsTo(() => rig);
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

      it('leaves what was asked for last, however fast it is asked', async () => {
        const stops: Promise<void>[] = [];
        for (let i = 0; i < 4; i++) {
          runtimes.start('a', i % 2 ? rig.model : rig.slow);
          if (i % 3) await pause(i * 15);
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

      it('gives up after its time, waiting included, and goes on with others', async () => {
        use({ timeoutMs: 150 });
        await started(rig.slow);
        const calls = [ask(), ask()];
        for (const call of calls) await expect(call).rejects.toEqual(code('inference_timeout'));
        // Both slots are free again, so this call times out as well.
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
  });
}
