import { type Outage, RetryQueue } from '../../../src/interfaces/web/console/shared/retry-queue.js';

const AWAY = { code: 'unreachable', message: 'Out of reach.', requestId: null, retryAfter: null };
const LIMITED = { code: 'rate_limited', message: 'Too many.', requestId: 'req_1', retryAfter: 30 };

/** Reads that a scripted service answers, and what the page is told. */
function rig() {
  const told: (Outage | null)[] = [];
  const page = { isHidden: false };
  const retries = new RetryQueue(
    (outage) => told.push(outage),
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
  return { told, page, retries, sent, service, read };
}

describe('reads while the service is away', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('waits longer after each failure, up to 12 s, then sends all that wait, the newest first', async () => {
    const { told, sent, service, read } = rig();
    const answers = Promise.all([read('first'), read('second')]);
    await jest.advanceTimersByTimeAsync(0);
    const third = read('third'); // Is not sent yet: the service is known to be away.
    expect(sent.splice(0)).toEqual(['first', 'second']);
    expect(told.at(-1)).toMatchObject({ words: 'Out of reach.', isLimited: false, nextTryAt: Date.now() + 2_000 });
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
    expect(told.at(-1)).toBeNull();
    expect(await read('fourth')).toBe('fourth');
    service.refusal = AWAY;
    void read('fifth'); // The waits begin anew.
    await jest.advanceTimersByTimeAsync(0);
    expect(told.at(-1)).toMatchObject({ nextTryAt: Date.now() + 2_000 });
  });

  it('tries at once when it is asked to, and not while the page is hidden', async () => {
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

  it('waits as long as the rate limit asks, whoever asks for an earlier try', async () => {
    const { told, retries, sent, service, read } = rig();
    service.refusal = LIMITED;
    const answers = Promise.all(['a', 'b', 'c'].map(read));
    await jest.advanceTimersByTimeAsync(0);
    expect(told.at(-1)).toMatchObject({ requestId: 'req_1', isLimited: true, nextTryAt: Date.now() + 30_000 });
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(29_999);
    expect(sent.splice(0)).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(1);
    expect(sent.splice(0)).toEqual(['c']); // One call tells that the limit still holds.
    retries.tryNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([]);
    service.refusal = null;
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await answers).toEqual(['a', 'b', 'c']);
  });

  it('passes on what waiting does not mend, also later, and drops the oldest of too many', async () => {
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

  it('holds all reads by what concerns all, and passes on what concerns one, also during an outage', async () => {
    const { told, sent, service, read } = rig();
    for (const code of ['busy', 'model_busy', 'runtime_loading', '502', '503', '504']) {
      service.refusal = { ...AWAY, code };
      await expect(read(code)).rejects.toMatchObject({ code });
    }
    expect(told).toEqual([]);
    for (const code of ['unreachable', 'rate_limited', 'storage_unavailable', 'shutting_down']) {
      service.refusal = { ...AWAY, code, message: code };
      const answer = read(code);
      await jest.advanceTimersByTimeAsync(0);
      expect(told.at(-1)).toMatchObject({ words: code, isLimited: code === 'rate_limited' });
      service.refusal = { ...AWAY, code: '504' };
      const refused = expect(answer).rejects.toMatchObject({ code: '504' });
      await jest.advanceTimersByTimeAsync(2_000);
      await refused;
      expect(told.at(-1)).toBeNull();
      expect(sent.splice(0).at(-1)).toBe(code);
    }
  });

  it('gives up a try that hangs after 30 s, and sends the others first', async () => {
    const { told, sent, service, read } = rig();
    const others = [read('first'), read('second')];
    const slow = read('slow');
    await jest.advanceTimersByTimeAsync(0);
    Object.assign(service, { refusal: null, hangs: 'slow' });
    await jest.advanceTimersByTimeAsync(2_000 + 29_999);
    expect(sent.splice(0)).toEqual(['first', 'second', 'slow', 'slow']);
    expect(told.at(-1)).toMatchObject({ nextTryAt: null });
    await jest.advanceTimersByTimeAsync(1 + 4_000);
    expect(await Promise.all(others)).toEqual(['first', 'second']);
    expect(sent).toEqual(['second', 'first', 'slow']);
    await jest.advanceTimersByTimeAsync(30_000);
    service.hangs = '';
    await jest.advanceTimersByTimeAsync(12_000);
    expect(await slow).toBe('slow');
    expect(told.at(-1)).toBeNull();
    expect(jest.getTimerCount()).toBe(0); // A try that is answered is not given up later.
  });

  it('waits as long as any refusal asks, at least its own pause, at most a minute', async () => {
    for (const code of ['rate_limited', 'storage_unavailable', 'shutting_down']) {
      for (const [retryAfter, wait] of [
        [null, 2],
        [1, 2],
        [20, 20],
        [3_600, 60],
      ] as const) {
        const { told, service, read } = rig();
        service.refusal = { ...AWAY, code, retryAfter };
        void read('one');
        await jest.advanceTimersByTimeAsync(0);
        expect(told.at(-1)).toMatchObject({ nextTryAt: Date.now() + wait * 1_000 });
      }
    }
  });

  it('goes on when a hidden page is seen after the wait that was asked, whatever the clock says', async () => {
    const { page, retries, sent, service, read } = rig();
    service.refusal = LIMITED;
    const answer = read('one');
    await jest.advanceTimersByTimeAsync(0);
    page.isHidden = true;
    await jest.advanceTimersByTimeAsync(29_999);
    retries.tryNow(); // Too early, also for a clock that is set forward.
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

  it('keeps a wait that is asked for, though the wait before it was cut short', async () => {
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
