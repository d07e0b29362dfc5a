import { Patience } from '../../../src/infrastructure/typeorm/patience.js';
import { asCaller } from '../../support/patience.js';

const LEFT_AT_LEAST = 100;

const spend = (ms: number, most = ms) => {
  const { over } = Patience.wait(most);
  jest.advanceTimersByTime(ms);
  over();
};

describe('the patience of a caller', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('is spent by all waits together, and not by what is done between them', async () => {
    await asCaller(1_000, async () => {
      expect(Patience.wait(800).ms).toBe(800);
    }).done;
    await asCaller(1_000, async () => {
      spend(300);
      jest.advanceTimersByTime(5_000);
      await Promise.resolve();
      expect(Patience.wait(800).ms).toBe(700);
    }).done;
  });

  it('counts waits at the same time once', async () => {
    await asCaller(1_000, async () => {
      const [first, second] = [Patience.wait(800), Patience.wait(800)];
      jest.advanceTimersByTime(200);
      first.over();
      jest.advanceTimersByTime(200);
      second.over();
      expect(Patience.wait(800).ms).toBe(600);
    }).done;
  });

  it('leaves a little for the end of what was begun', async () => {
    await asCaller(1_000, async () => {
      spend(2_000);
      expect(Patience.wait(800).ms).toBe(LEFT_AT_LEAST);
    }).done;
  });

  it('is nobody’s where nobody waits, nor any more once there is an answer', async () => {
    expect(Patience.wait(800).ms).toBe(800);
    let goOn: () => void = () => undefined;
    const { done, answered } = asCaller(100, async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      expect(Patience.wait(800).ms).toBe(800);
    });
    answered();
    goOn();
    await done;
  });

  it('ends a wait for what others wait for, too', async () => {
    const { done } = asCaller(1_000, async () => {
      const late = Patience.within(
        () => undefined,
        () => new Error('late'),
      );
      jest.advanceTimersByTime(1_000);
      await expect(late).rejects.toThrow('late');
      expect(
        await Patience.within(
          (resolve) => resolve('in time'),
          () => new Error('late'),
        ),
      ).toBe('in time');
    });
    await done;
  });
});
