import { retryWrite } from '../../../src/application/shared/retry-write.js';

describe('retryWrite', () => {
  const { signal } = new AbortController();

  it('repeats a write that lost, and returns the result of the first one that did not', async () => {
    const outcomes = [false, false, { written: 3 }, { written: 4 }] as const;
    let attempts = 0;
    expect(await retryWrite(signal, async () => outcomes[attempts++] ?? false)).toEqual({ written: 3 });
    expect(attempts).toBe(3);
  });

  it('ends with storage_unavailable if every attempt loses', async () => {
    const attempt = jest.fn(async () => false as const);
    await expect(retryWrite(signal, attempt)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(attempt).toHaveBeenCalledTimes(64);
  });

  it('does not repeat a failed attempt', async () => {
    const failure = new Error('no');
    const attempt = jest.fn(() => Promise.reject(failure));
    await expect(retryWrite(signal, attempt)).rejects.toBe(failure);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('makes only one attempt for a caller who has disconnected', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const attempt = jest.fn(async () => false as const);
    await expect(retryWrite(gone, attempt)).rejects.toBe(gone.reason);
    expect(attempt).toHaveBeenCalledTimes(1);
    expect(await retryWrite(gone, async () => true)).toBe(true);
  });
});
