import { Watchdog } from '../../../src/infrastructure/model-server/process/inference-queue.js';

describe('the watch over the runs of a model', () => {
  const onHang = jest.fn();
  let watchdog: Watchdog;
  beforeEach(() => {
    jest.useFakeTimers();
    onHang.mockClear();
    watchdog = new Watchdog(1_000, onHang);
  });
  afterEach(() => jest.useRealTimers());

  it('tells of a run that does not end in time', () => {
    watchdog.runStarted();
    jest.advanceTimersByTime(999);
    expect(onHang).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(onHang).toHaveBeenCalledTimes(1);
  });

  it('counts the time of a run that waited behind another from the end of that one', () => {
    const [first, second] = [watchdog.runStarted(), watchdog.runStarted()];
    jest.advanceTimersByTime(900);
    first();
    jest.advanceTimersByTime(900);
    expect(onHang).not.toHaveBeenCalled();
    second();
    jest.advanceTimersByTime(60_000);
    expect(onHang).not.toHaveBeenCalled();
    watchdog.runStarted();
    jest.advanceTimersByTime(1_000);
    expect(onHang).toHaveBeenCalledTimes(1);
  });
});
