import type { ChatRuntimes } from '../../../src/application/chat/ports.js';
import type { CompletionPart } from '../../../src/domain/chat/chat.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';
import { until } from '../../support/until.js';

/** Tests the promises of ChatRuntimes about streams. */
export function chatStreamsContract(adapter: string, open: (limits: ChatRuntimesLimits) => ChatRuntimesUnderTest) {
  describe(`Streams of ChatRuntimes, run by ${adapter},`, () => {
    let rig: ChatRuntimesUnderTest;
    let runtimes: ChatRuntimes;
    const { ask, take, longest, occupy, reaches, started } = callsTo(() => rig);
    const use = (limits: Partial<ChatRuntimesLimits> = {}) => {
      rig = open({ queue: 1, timeoutMs: 60_000, babbling: false, ...limits });
      ({ runtimes } = rig);
    };
    const code = (name: string) => expect.objectContaining({ code: name });
    const figures = () => runtimes.figures().get('a');
    const isFree = () => until('the slot is free', () => figures()?.running === 0, 1);
    const textOf = (parts: readonly CompletionPart[]) => parts.map(({ text }) => text).join('');

    describe('from a ready runtime,', () => {
      beforeAll(async () => {
        use();
        await Promise.all([started(rig.slow), started(rig.model, 'b')]);
      });
      afterEach(isFree);
      afterAll(() => runtimes.close());

      it('yields the same text and end as a whole answer; only the last part has the end', async () => {
        let turns = 0;
        for (const maxTokens of [null, 1]) {
          const { text, finishReason, usage } = await ask({ id: 'b', maxTokens });
          const parts = await take({ id: 'b', maxTokens, admitted: () => turns++ }).all();
          expect(textOf(parts)).toBe(text);
          const { promptTokens, completionTokens } = usage ?? {};
          expect(parts.at(-1)?.end).toMatchObject({ finishReason, usage: { promptTokens, completionTokens } });
          expect(parts.filter(({ end }) => end)).toHaveLength(1);
        }
        expect(turns).toBe(2);
        expect(runtimes.figures().get('b')).toMatchObject({ running: 0, answer: { count: 4 } });
      });

      it('rejects the first part with the same error as a call for a whole answer', async () => {
        const text = 'word '.repeat(rig.context);
        await expect(take({ id: 'b', text }).first).rejects.toEqual(code('context_length_exceeded'));
        await expect(take({ id: 'b', signal: AbortSignal.abort('gone') }).first).rejects.toBe('gone');
        await expect(take({ id: 'c' }).first).rejects.toEqual(code('runtime_stopped'));
        const calls = [occupy(), occupy()];
        await expect(take().first).rejects.toEqual(code('model_busy'));
        for (const { leave } of calls) leave('enough');
      });

      it('ends the generation, or frees the place in the queue, when the signal is aborted', async () => {
        const [working, waiting] = [new AbortController(), new AbortController()];
        const calls = [working, waiting].map(({ signal }) => take({ ...longest(), signal }));
        if (rig.streams) expect((await calls[0]?.first)?.value.end).toBeUndefined();
        await until('one waits', () => figures()?.waiting === 1, 1);
        waiting.abort('gone');
        await expect(calls[1]?.first).rejects.toBe('gone');
        const next = ask({ maxTokens: 1 });
        working.abort('enough');
        await expect(calls[0]?.all()).rejects.toBe('enough');
        expect(await next).toMatchObject({ usage: { completionTokens: 1 } });
      });

      it('ends the generation when the caller takes no more parts', async () => {
        const { count } = figures()?.answer ?? {};
        const [left, next] = [take(rig.streams ? longest() : { maxTokens: 1 }), ask({ maxTokens: 1 })];
        await left.first;
        await left.leave();
        expect(await next).toMatchObject({ usage: { completionTokens: 1 } });
        if (rig.streams) expect(figures()?.answer.count).toBe(Number(count) + 1);
      });

      it('does not delay other calls when a caller takes parts slowly', async () => {
        const slow = take({ id: 'b' });
        await slow.first;
        const { text } = await ask({ id: 'b' });
        expect(textOf(await slow.all())).toBe(text);
      });
    });

    describe('from a runtime that stops or fails meanwhile,', () => {
      afterEach(() => runtimes.close());

      it.each<[string, () => unknown, string]>([
        ['is stopped', () => runtimes.stop('a'), 'runtime_stopped'],
        ['crashes', () => rig.crash('a'), 'runtime_unavailable'],
        ['is replaced', () => runtimes.start('a', rig.model), 'runtime_loading'],
      ])('rejects the next part when the runtime %s', async (_, happens, refusal) => {
        use();
        await started(rig.slow);
        const [working, waiting] = [take(longest()), take(longest())];
        if (rig.streams) await working.first;
        await until('one works and one waits', () => figures()?.waiting === 1, 1);
        await happens();
        for (const call of [working, waiting]) await expect(call.all()).rejects.toEqual(code(refusal));
      });

      it('ends after the timeout for the whole answer', async () => {
        use({ timeoutMs: 150 });
        await started(rig.slow);
        const calls = [take(longest()), take(longest())];
        for (const call of calls) await expect(call.all()).rejects.toEqual(code('inference_timeout'));
        await isFree();
        expect(runtimes.status('a').state).toBe('ready');
      });

      it('refuses parts that are not a completion', async () => {
        use({ babbling: true });
        await started(rig.babbling);
        await expect(take().all()).rejects.toEqual(code('runtime_invalid_response'));
        await reaches('ready');
      });
    });
  });
}
