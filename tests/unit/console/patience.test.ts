import { type Outage, Patience } from '../../../src/interfaces/web/console/shared/patience.js';

const AWAY = { code: 'unreachable', message: 'Out of reach.', requestId: null, retryAfter: null };
const LIMITED = { code: 'rate_limited', message: 'Too many.', requestId: 'req_1', retryAfter: 30 };

/** Reads that a scripted service answers, and what the page is told. */
function rig() {
  const told: (Outage | null)[] = [];
  const page = { isHidden: false };
  const patience = new Patience(
    (outage) => told.push(outage),
    () => page.isHidden,
  );
  const sent: string[] = [];
  const service: { refusal: object | null } = { refusal: AWAY };
  const read = (name: string) =>
    patience.send(async () => {
      sent.push(name);
      if (service.refusal) throw service.refusal;
      return name;
    });
  return { told, page, patience, sent, service, read };
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
    const { page, patience, sent, service, read } = rig();
    const answer = read('one');
    await jest.advanceTimersByTimeAsync(0);
    patience.tryNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
    page.isHidden = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(sent).toHaveLength(2);
    page.isHidden = false;
    service.refusal = null;
    patience.tryNow();
    expect(await answer).toBe('one');
  });

  it('waits as long as the rate limit asks, whoever asks for an earlier try', async () => {
    const { told, patience, sent, service, read } = rig();
    service.refusal = LIMITED;
    const answers = Promise.all(['a', 'b', 'c'].map(read));
    await jest.advanceTimersByTimeAsync(0);
    expect(told.at(-1)).toMatchObject({ requestId: 'req_1', isLimited: true, nextTryAt: Date.now() + 30_000 });
    patience.tryNow();
    await jest.advanceTimersByTimeAsync(29_999);
    expect(sent.splice(0)).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(1);
    expect(sent.splice(0)).toEqual(['c']); // One call tells that the limit still holds.
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
});
