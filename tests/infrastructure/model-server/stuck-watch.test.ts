import { StuckWatch } from '../../../src/infrastructure/model-server/process/stuck-watch.js';

describe('the watch over the runs of a model', () => {
  const stuck = jest.fn();
  let watch: StuckWatch;
  beforeEach(() => {
    jest.useFakeTimers();
    stuck.mockClear();
    watch = new StuckWatch(1_000, stuck);
  });
  afterEach(() => jest.useRealTimers());

  it('tells of a run that does not end in time', () => {
    watch.running();
    jest.advanceTimersByTime(999);
    expect(stuck).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(stuck).toHaveBeenCalledTimes(1);
  });

  it('counts the time of a run that waited behind another from the end of that one', () => {
    const [first, second] = [watch.running(), watch.running()];
    jest.advanceTimersByTime(900);
    first();
    jest.advanceTimersByTime(900);
    expect(stuck).not.toHaveBeenCalled();
    second();
    jest.advanceTimersByTime(60_000);
    expect(stuck).not.toHaveBeenCalled();
    watch.running();
    jest.advanceTimersByTime(1_000);
    expect(stuck).toHaveBeenCalledTimes(1);
  });
});
