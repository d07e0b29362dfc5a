import type { Delay } from '../../../src/application/shared/ports.js';

export function pausesContract(adapter: string, pauses: Delay) {
  describe(`Delay of ${adapter}`, () => {
    const never = new AbortController().signal;

    it('end, the short ones too', async () => {
      await pauses.take(0, never);
      await pauses.take(5, never);
    });

    it('end with the reason of their signal, before and during', async () => {
      const reason = new Error('enough');
      await expect(pauses.take(1_000_000, AbortSignal.abort(reason))).rejects.toBe(reason);
      const abort = new AbortController();
      const pause = pauses.take(1_000_000, abort.signal);
      abort.abort(reason);
      await expect(pause).rejects.toBe(reason);
    });
  });
}
