import type { EmbeddingRequest } from '../../../src/domain/chat/embedding.js';
import { type ChatRuntimesLimits, type ChatRuntimesUnderTest, callsTo } from '../../support/chat-runtimes-rig.js';
import { unlimited } from '../../support/records.js';

const texts = ['a cat', 'the price of a share rose on the market today', 'a dog and a cat'];

export interface EmbeddingRuntimesUnderTest extends ChatRuntimesUnderTest {
  /** A model that makes embeddings. */
  readonly embedding: ChatRuntimesUnderTest['model'];
  /** A model that chats. The source of an engine elsewhere also names the task. */
  readonly chatting: ChatRuntimesUnderTest['model'];
}

export function chatEmbeddingsContract(
  adapter: string,
  open: (limits: ChatRuntimesLimits) => EmbeddingRuntimesUnderTest,
) {
  describe(`Embeddings of ChatRuntimes made by ${adapter}`, () => {
    let rig: EmbeddingRuntimesUnderTest;
    const { ask, started } = callsTo(() => rig);
    const embed = (
      request: Partial<EmbeddingRequest> = {},
      signal = new AbortController().signal,
      admitted?: () => void,
    ) =>
      rig.runtimes.embed(
        'a',
        { texts, ...request },
        { caller: 'usr_a', signal, memory: unlimited, ...(admitted && { admitted }) },
      );
    const bound = (signal = new AbortController().signal) =>
      rig.runtimes.boundTextTokens('a', { texts }, { caller: 'usr_a', signal });
    const code = (name: string) => expect.objectContaining({ code: name });

    beforeAll(() => {
      rig = open({ queue: 4, timeoutMs: 60_000, babbling: false });
    });
    afterAll(() => rig.runtimes.close());

    it('refuses calls to a runtime that is not ready or has the wrong kind of model', async () => {
      await expect(embed()).rejects.toEqual(code('runtime_stopped'));
      rig.runtimes.start('a', rig.chatting);
      await expect(embed()).rejects.toEqual(code('runtime_loading'));
      await started(rig.chatting);
      const wrong = expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(/^model: /) });
      await expect(embed()).rejects.toEqual(wrong);
      await expect(bound()).rejects.toEqual(wrong);
      await started(rig.embedding);
      expect(rig.runtimes.status('a')).toMatchObject({ state: 'ready', reason: null, task: 'embedding' });
      await expect(ask()).rejects.toEqual(wrong);
    });

    it('returns the same vector for a text alone and with other texts', async () => {
      const admitted = jest.fn();
      const { vectors, promptTokens } = await embed({}, undefined, admitted);
      expect(admitted).toHaveBeenCalledTimes(1);
      expect(vectors).toHaveLength(3);
      expect(promptTokens).toBeGreaterThan(10);
      for (const [i, text] of texts.entries()) {
        const [alone] = (await embed({ texts: [text] })).vectors;
        expect(alone).toHaveLength(vectors[0]?.length ?? 0);
        expect(alone?.every((one, at) => Math.abs(one - (vectors[i]?.[at] ?? Number.NaN)) < 1e-5)).toBe(true);
      }
      expect(rig.runtimes.figures().get('a')).toMatchObject({ answer: { count: 4 }, completionTokens: 0 });
    });

    it('tells at least the number of tokens of texts, and counts them if it can', async () => {
      const { promptTokens } = await embed();
      const [told, counted] = [await bound(), promptTokens ?? 0];
      expect([told >= counted, told === counted]).toEqual([true, rig.countsFirst]);
      await expect(bound(AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    });

    it('refuses a text that is too long', async () => {
      const long = embed({ texts: ['a cat', 'cat '.repeat(1_000)] });
      await expect(long).rejects.toEqual(code('context_length_exceeded'));
      await expect(long).rejects.toThrow(/^input /);
    });

    it('ends a call when its caller leaves', async () => {
      const left = new AbortController();
      const call = embed({ texts: Array(500).fill('cat '.repeat(100)) }, left.signal);
      left.abort(new Error('left'));
      await expect(call).rejects.toThrow('left');
      expect((await embed()).vectors).toHaveLength(3);
    });
  });
}
