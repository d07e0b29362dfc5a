import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRuntimes } from '../../../src/application/chat/ports.js';
import type { Usage } from '../../../src/domain/chat/chat.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';

export function chatRuntimesContract(adapter: string, open: (limits: ChatRuntimesLimits) => ChatRuntimesUnderTest) {
  describe(`ChatRuntimes run by ${adapter}`, () => {
    let rig: ChatRuntimesUnderTest;
    let runtimes: ChatRuntimes;

    const use = (limits: Partial<ChatRuntimesLimits> = {}) => {
      rig = open({ queue: 1, timeoutMs: 60_000, babbling: false, ...limits });
      ({ runtimes } = rig);
    };
    afterEach(() => rig.runtimes.close());

    const { ask, occupy, reaches, started } = callsTo(() => rig);
    const code = (name: string) => expect.objectContaining({ code: name });

    it('is loading, then ready; has figures until it is stopped; a stop fails calls in flight', async () => {
      use();
      expect([...runtimes.figures().keys()]).toEqual([]);
      runtimes.start('a', rig.slow);
      expect([...runtimes.figures().keys()]).toEqual(['a']);
      expect(await reaches('ready')).toMatchObject([
        { state: 'loading', reason: null },
        { state: 'ready', reason: null },
      ]);
      const calls = [ask(), ask()];
      await runtimes.stop('a');
      expect(rig.processes()).toBe(0);
      expect(runtimes.status('a')).toEqual({ state: 'stopped', reason: null });
      expect([...runtimes.figures().keys()]).toEqual([]);
      for (const call of calls) await expect(call).rejects.toEqual(code('runtime_stopped'));
    });

    it('refuses calls by its state, names the broken part of a model, and loads again when started again', async () => {
      use();
      await expect(ask()).rejects.toEqual(code('runtime_stopped'));
      runtimes.start('a', rig.broken);
      await expect(ask()).rejects.toEqual(code('runtime_loading'));
      const [, status] = await reaches('unavailable');
      expect(status?.reason).toMatch(rig.blame);
      await expect(ask()).rejects.toEqual(code('runtime_unavailable'));
      await expect(ask()).rejects.toThrow(rig.blame);
      rig.mend();
      runtimes.start('a', rig.broken);
      expect(runtimes.status('a')).toEqual({ state: 'loading', reason: null });
      expect(await reaches('ready')).toHaveLength(2);
    });

    it('keeps running when the same model is started again, and loads again from another source', async () => {
      use();
      await started(rig.slow);
      const { answer } = occupy();
      runtimes.start('a', { ...rig.slow });
      expect(runtimes.status('a').state).toBe('ready');
      expect(rig.processes()).toBe(1);
      runtimes.start('a', rig.model);
      expect(runtimes.status('a').state).toBe('loading');
      await expect(answer).rejects.toEqual(code('runtime_loading'));
      await reaches('ready');
      expect(await ask()).toMatchObject({ finishReason: 'stop' });
      expect(rig.processes()).toBe(1);
    });

    it('comes back after a crash (unavailable, loading, ready) and keeps its figures', async () => {
      use();
      await started(rig.model);
      const usages = [(await ask()).usage, (await ask({ maxTokens: 1 })).usage];
      const sum = (field: keyof Usage) => usages.reduce((sum, usage) => sum + (usage?.[field] ?? 0), 0);
      const completionTokens = sum('completionTokens');
      const [promptTokens, cachedTokens] = [sum('promptTokens'), sum('cachedTokens')];
      const figures = () => runtimes.figures().get('a');
      expect(figures()).toMatchObject({ promptTokens, cachedTokens, completionTokens, answer: { count: 2 } });
      rig.crash('a');
      await reaches('unavailable');
      const seen = await reaches('ready');
      expect(seen.map(({ state }) => state)).toEqual(['unavailable', 'loading', 'ready']);
      expect(seen[0]?.reason).toEqual(expect.any(String));
      expect(figures()).toMatchObject({ completionTokens, answer: { count: 2 } });
      expect(await ask()).toMatchObject({ finishReason: 'stop' });
    });

    it('fails running calls when it crashes, and can be stopped before its restart', async () => {
      use();
      await started(rig.slow);
      const calls = [ask(), ask()];
      rig.crash('a');
      for (const call of calls) await expect(call).rejects.toEqual(code('runtime_unavailable'));
      await reaches('unavailable');
      await runtimes.stop('a');
      await pause(300);
      expect(runtimes.status('a').state).toBe('stopped');
      expect(rig.processes()).toBe(0);
    });

    it('is independent of other runtimes until `close` stops all of them', async () => {
      use();
      await Promise.all([started(rig.slow, 'a'), started(rig.model, 'b')]);
      const calls = [ask(), ask()];
      expect(await ask({ id: 'b' })).toMatchObject({ finishReason: 'stop' });
      await runtimes.stop('b');
      expect(runtimes.status('a').state).toBe('ready');
      await runtimes.close();
      runtimes.start('c', rig.model);
      for (const call of calls) await expect(call).rejects.toEqual(code('runtime_stopped'));
      expect(['a', 'b', 'c'].map((id) => runtimes.status(id).state)).toEqual(['stopped', 'stopped', 'stopped']);
      expect(rig.processes()).toBe(0);
    });

    it('ends in the state of the last call after many fast starts and stops', async () => {
      use();
      const stops: Promise<void>[] = [];
      for (let i = 0; i < 4; i++) {
        runtimes.start('a', i % 2 ? rig.model : rig.slow);
        if (i % 3) await pause(i * 15);
        stops.push(runtimes.stop('a'));
        expect(runtimes.status('a').state).toBe('stopped');
      }
      await Promise.all(stops);
      expect(rig.processes()).toBe(0);
      runtimes.start('a', rig.slow);
      const stopped = runtimes.stop('a');
      runtimes.start('a', rig.model);
      await stopped;
      await reaches('ready');
      expect(rig.processes()).toBe(1);
    });

    it('ends calls after the timeout, which includes waiting, and continues with others', async () => {
      use({ timeoutMs: 150 });
      await started(rig.slow);
      const calls = [ask(), ask()];
      for (const call of calls) await expect(call).rejects.toEqual(code('inference_timeout'));
      // The earlier calls have left the runtime and its queue. Otherwise, this call would get `model_busy`.
      await expect(ask()).rejects.toEqual(code('inference_timeout'));
      expect(runtimes.status('a').state).toBe('ready');
    });

    it('refuses an answer that is not a completion', async () => {
      use({ babbling: true });
      await started(rig.babbling);
      await expect(ask()).rejects.toEqual(code('runtime_invalid_response'));
      await expect(ask()).rejects.toEqual(code('runtime_invalid_response'));
    });
  });
}
