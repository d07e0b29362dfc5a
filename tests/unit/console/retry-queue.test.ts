import { type Outage, RetryQueue } from '../../../src/interfaces/web/console/shared/retry-queue.js';

const AWAY = { code: 'unreachable', message: 'Out of reach.', requestId: null, retryAfter: null };
const LIMITED = { code: 'rate_limited', message: 'Too many.', requestId: 'req_1', retryAfter: 30 };

/** Makes reads that a scripted service answers, and records the outages that are reported to the page. */
function rig() {
  const outages: (Outage | null)[] = [];
  const page = { isHidden: false };
  const retries = new RetryQueue(
    (outage) => outages.push(outage),
    () => page.isHidden,
  );
  const sent: string[] = [];
  const service: { refusal: object | null; hangs: string } = { refusal: AWAY, hangs: '' };
  const read = (name: string) =>
    retries.send(async (limit) => {
      sent.push(name);
      if (service.refusal) throw service.refusal;
      if (service.hangs === name)
        await new Promise<void>((_, reject) => limit?.addEventListener('abort', () => reject(AWAY)));
      return name;
    });
  return { outages, page, retries, sent, service, read };
}

describe('RetryQueue', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('waits longer after each failure, up to 12 s, and after a success sends all reads, the newest first', async () => {
    const { outages, sent, service, read } = rig();
    const answers = Promise.all([read('first'), read('second')]);
    await jest.advanceTimersByTimeAsync(0);
    const third = read('third'); // It is not sent yet, because the service is known to be away.
    expect(sent.splice(0)).toEqual(['first', 'second']);
    expect(outages.at(-1)).toMatchObject({ words: 'Out of reach.', isLimited: false, nextTryAt: Date.now() + 2_000 });
    for (const wait of [2_000, 4_000, 8_000, 12_000, 12_000]) {
      await jest.advanceTimersByTimeAsync(wait - 1);
      expect(sent).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
      expect(sent.splice(0)).toEqual(['third']);
    }
    service.refusal = null;
    await jest.advanceTimersByTimeAsync(12_000);
    expect(await third).toBe('third');
    expect(await answers).toEqual(['first', 'second']);
    expect(sent).toEqual(['third', 'second', 'first']);
    expect(outages.at(-1)).toBeNull();
    expect(await read('fourth')).toBe('fourth');
    service.refusal = AWAY;
    void read('fifth'); // The waits start at 2 s again.
    await jest.advanceTimersByTimeAsync(0);
    expect(outages.at(-1)).toMatchObject({ nextTryAt: Date.now() + 2_000 });
  });

  it('tries at once when it is asked to, but not while the page is hidden', async () => {
    const { page, retries, sent, service, read } = rig();
    const answer = read('one');
    await jest.advanceTimersByTimeAsync(0);
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
    page.isHidden = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(sent).toHaveLength(2);
    page.isHidden = false;
    service.refusal = null;
    retries.tryNow();
    expect(await answer).toBe('one');
  });

  it('waits as long as the rate limit asks, also if `tryNow` is called earlier', async () => {
    const { outages, retries, sent, service, read } = rig();
    service.refusal = LIMITED;
    const answers = Promise.all(['a', 'b', 'c'].map(read));
    await jest.advanceTimersByTimeAsync(0);
    expect(outages.at(-1)).toMatchObject({ requestId: 'req_1', isLimited: true, nextTryAt: Date.now() + 30_000 });
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(29_999);
    expect(sent.splice(0)).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(1);
    expect(sent.splice(0)).toEqual(['c']); // One call shows that the limit still holds.
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([]);
    service.refusal = null;
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await answers).toEqual(['a', 'b', 'c']);
  });

  it('rejects a read at once if a retry cannot help, and rejects the oldest read if too many wait', async () => {
    const { sent, service, read } = rig();
    service.refusal = { ...AWAY, code: 'not_found' };
    await expect(read('gone')).rejects.toMatchObject({ code: 'not_found' });
    service.refusal = AWAY;
    const oldest = expect(read('oldest')).rejects.toBe(AWAY);
    const others = Array.from({ length: 50 }, (_, at) => expect(read(`${at}`)).rejects.toMatchObject({ code: 'no' }));
    await oldest;
    service.refusal = { ...AWAY, code: 'no' };
    await jest.advanceTimersByTimeAsync(2_000);
    await Promise.all(others);
    expect(sent.at(-1)).toBe('0');
  });

  it('holds back all reads after an error of the service, and rejects a read after an error of its own', async () => {
    const { outages, sent, service, read } = rig();
    for (const code of ['busy', 'model_busy', 'runtime_loading', '502', '503', '504']) {
      service.refusal = { ...AWAY, code };
      await expect(read(code)).rejects.toMatchObject({ code });
    }
    expect(outages).toEqual([]);
    for (const code of ['unreachable', 'rate_limited', 'storage_unavailable', 'shutting_down']) {
      service.refusal = { ...AWAY, code, message: code };
      const answer = read(code);
      await jest.advanceTimersByTimeAsync(0);
      expect(outages.at(-1)).toMatchObject({ words: code, isLimited: code === 'rate_limited' });
      service.refusal = { ...AWAY, code: '504' };
      const refused = expect(answer).rejects.toMatchObject({ code: '504' });
      await jest.advanceTimersByTimeAsync(2_000);
      await refused;
      expect(outages.at(-1)).toBeNull();
      expect(sent.splice(0).at(-1)).toBe(code);
    }
  });

  it('gives up a hanging try after 30 s, and then sends the other reads first', async () => {
    const { outages, sent, service, read } = rig();
    const others = [read('first'), read('second')];
    const slow = read('slow');
    await jest.advanceTimersByTimeAsync(0);
    Object.assign(service, { refusal: null, hangs: 'slow' });
    await jest.advanceTimersByTimeAsync(2_000 + 29_999);
    expect(sent.splice(0)).toEqual(['first', 'second', 'slow', 'slow']);
    expect(outages.at(-1)).toMatchObject({ nextTryAt: null });
    await jest.advanceTimersByTimeAsync(1 + 4_000);
    expect(await Promise.all(others)).toEqual(['first', 'second']);
    expect(sent).toEqual(['second', 'first', 'slow']);
    await jest.advanceTimersByTimeAsync(30_000);
    service.hangs = '';
    await jest.advanceTimersByTimeAsync(12_000);
    expect(await slow).toBe('slow');
    expect(outages.at(-1)).toBeNull();
    expect(jest.getTimerCount()).toBe(0); // An answered try has no timer left.
  });

  it('waits as long as a refusal asks, but at least its own pause and at most a minute', async () => {
    for (const code of ['rate_limited', 'storage_unavailable', 'shutting_down']) {
      for (const [retryAfter, wait] of [
        [null, 2],
        [1, 2],
        [20, 20],
        [3_600, 60],
      ] as const) {
        const { outages, service, read } = rig();
        service.refusal = { ...AWAY, code, retryAfter };
        void read('one');
        await jest.advanceTimersByTimeAsync(0);
        expect(outages.at(-1)).toMatchObject({ nextTryAt: Date.now() + wait * 1_000 });
      }
    }
  });

  it('continues when a hidden page is shown after the wait, also if the clock was changed', async () => {
    const { page, retries, sent, service, read } = rig();
    service.refusal = LIMITED;
    const answer = read('one');
    await jest.advanceTimersByTimeAsync(0);
    page.isHidden = true;
    await jest.advanceTimersByTimeAsync(29_999);
    retries.tryNow(); // This is too early, also after the clock is set forward.
    jest.setSystemTime(Date.now() + 3_600_000);
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(1);
    expect(sent).toEqual(['one']);
    jest.setSystemTime(Date.now() - 7_200_000);
    Object.assign(page, { isHidden: false });
    service.refusal = null;
    retries.tryNow();
    expect(await answer).toBe('one');
  });

  it('waits as long as a refusal asks, also if `tryNow` has cut an earlier wait short', async () => {
    const { retries, sent, service, read } = rig();
    void read('one');
    await jest.advanceTimersByTimeAsync(1_000);
    service.refusal = LIMITED;
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(1_500); // The first wait would be over.
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(['one', 'one']);
  });
});
