import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import { type SupervisedProcess, Supervisor } from '../../../src/infrastructure/child-process/supervisor.js';
import { RestartDelays } from '../../../src/infrastructure/system/scheduling.js';
import { RecordingLog } from '../../support/recording-log.js';

/** Uses the global timers, because Jest fakes only these. */
jest.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms, value);
      signal.addEventListener('abort', resolve);
    }),
}));

/** Becomes ready and dies when the test says so. */
class FakeProcess implements SupervisedProcess {
  readonly ready: Promise<void>;
  readonly gone: Promise<string>;
  ends = 0;
  becomeReady: () => void = () => undefined;
  die: (reason: string) => void = () => undefined;

  constructor(readonly pid: number) {
    this.gone = new Promise((resolve) => {
      this.die = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.becomeReady = resolve;
      void this.gone.then((reason) => reject(new Error(reason)));
    });
  }

  async end(): Promise<void> {
    this.ends++;
    await this.gone;
  }
}

describe('the supervisor of a process', () => {
  let log: RecordingLog;
  let processes: FakeProcess[];
  let lost: string[];
  let supervisor: Supervisor<FakeProcess>;
  let children: ChildLimits;
  const launch = () => {
    processes.push(new FakeProcess(processes.length + 1));
    return latest();
  };
  const supervise = (onLost?: () => void) => {
    const settings = { restartDelayMs: { first: 100, max: 300 }, stableMs: 5_000, children };
    return new Supervisor(launch, settings, { log, subject: 'thing', fields: { id: 'a' } }, onLost);
  };
  const turns = () => jest.advanceTimersByTimeAsync(0);
  const latest = () => processes.at(-1) as FakeProcess;
  const delays = () => log.of('thing unavailable').map(({ fields }) => Number(fields.restartInMs));

  beforeEach(() => {
    jest.useFakeTimers();
    [log, processes, lost] = [new RecordingLog(), [], []];
    children = new ChildLimits(3);
    const settings = { restartDelayMs: { first: 100, max: 300 }, stableMs: 5_000 };
    supervisor = new Supervisor(launch, settings, { log, subject: 'thing', fields: { id: 'a' } }, (_, reason) =>
      lost.push(`${supervisor.state}: ${reason}`),
    );
  });
  afterEach(() => jest.useRealTimers());

  const run = async () => {
    void supervisor.resume();
    await turns();
    latest().becomeReady();
    await turns();
  };
  const dieAndRestart = async () => {
    latest().die('signal 9');
    await turns();
    await jest.advanceTimersByTimeAsync(300);
  };

  it('starts the process, and reports it as running when it is ready', async () => {
    void supervisor.resume();
    await turns();
    expect([supervisor.state, supervisor.current]).toEqual(['starting', null]);
    latest().becomeReady();
    await turns();
    expect([supervisor.state, supervisor.current]).toEqual(['running', latest()]);
    expect(log.lines.map(({ event, fields }) => [event, fields])).toEqual([
      ['thing started', { id: 'a', pid: 1 }],
      ['thing ready', { id: 'a', pid: 1 }],
    ]);
  });

  it('restarts a dead process, and knows the reason before its owner is told', async () => {
    await run();
    latest().die('signal 9');
    await turns();
    expect([supervisor.state, supervisor.current, supervisor.latest]).toEqual(['waiting', null, processes[0]]);
    expect([supervisor.reason, lost]).toEqual(['signal 9', ['waiting: signal 9']]);
    await jest.advanceTimersByTimeAsync(100);
    latest().becomeReady();
    await turns();
    expect([supervisor.state, supervisor.reason, supervisor.starts]).toEqual(['running', null, 2]);
  });

  it('waits longer before each restart, up to a limit; a stable time or a manual start resets the wait', async () => {
    await run();
    for (let end = 0; end < 5; end++) await dieAndRestart();
    for (const [at, most] of [100, 200, 300, 300, 300].entries()) {
      expect(delays()[at]).toBeGreaterThanOrEqual(most / 2);
      expect(delays()[at]).toBeLessThanOrEqual(most);
    }
    latest().becomeReady();
    await jest.advanceTimersByTimeAsync(5_000);
    await dieAndRestart();
    expect(delays().at(-1)).toBeLessThanOrEqual(100);
    await dieAndRestart();
    latest().die('signal 9');
    await turns();
    await run();
    await dieAndRestart();
    expect(delays().at(-1)).toBeLessThanOrEqual(100);
  });

  it('is crash-looping while it waits after a failed start, or after three ends in a row', async () => {
    await run();
    for (const looping of [false, false, true]) {
      latest().die('signal 9');
      await turns();
      expect(supervisor.isCrashLooping).toBe(looping);
      await jest.advanceTimersByTimeAsync(300);
      latest().becomeReady();
      await turns();
      expect(supervisor.isCrashLooping).toBe(false);
    }
    void supervisor.resume();
    latest().die('ended');
    await turns();
    latest().die('it does not load');
    await turns();
    expect([supervisor.isCrashLooping, supervisor.reason]).toEqual([true, 'it does not load']);
  });

  it('leaves nothing running if `start` fails', async () => {
    const start = supervisor.start();
    await turns();
    latest().die('it does not load');
    await expect(start).rejects.toThrow('it does not load');
    await jest.advanceTimersByTimeAsync(10_000);
    expect([supervisor.state, processes.length]).toEqual(['stopped', 1]);
  });

  it('never runs two processes: a new start waits for the end of the earlier process', async () => {
    await run();
    void supervisor.resume();
    await turns();
    expect([supervisor.state, processes.length, latest().ends]).toEqual(['starting', 1, 1]);
    latest().die('ended');
    await turns();
    expect([supervisor.state, processes.length]).toEqual(['starting', 2]);
    expect(lost).toEqual([]);
  });

  it.each<[string, (one: Supervisor<FakeProcess>) => unknown]>([
    ['stopped', (one) => one.stop()],
    ['failed', (one) => one.fail('it is broken')],
  ])('ends the process for good when the supervisor is %s while the process runs or starts', async (state, act) => {
    for (const prepare of [run, () => turns(), () => dieAndRestart()]) {
      void supervisor.resume();
      await turns();
      latest().die('ended');
      await run();
      await prepare();
      const acted = act(supervisor);
      expect(supervisor.state).toBe(state);
      latest().die('ended');
      await acted;
      const { length } = processes;
      await jest.advanceTimersByTimeAsync(10_000);
      expect([supervisor.state, processes.length]).toEqual([state, length]);
    }
  });

  it('continues when its owner throws at the end of a process', async () => {
    supervisor = supervise(() => {
      throw new Error('no luck');
    });
    const started = supervisor.start();
    await turns();
    latest().becomeReady();
    await started;
    await dieAndRestart();
    expect([supervisor.state, processes.length]).toEqual(['starting', 2]);
  });

  it('lets two processes start at a time, and can be stopped while it waits for its turn', async () => {
    const [one, two, three] = [supervise(), supervise(), supervise()];
    for (const each of [one, two, three]) void each.resume();
    await turns();
    expect([three.state, processes.length]).toEqual(['starting', 2]);
    await three.stop();
    processes[0]?.becomeReady();
    await turns();
    expect([one.state, two.state, three.state, processes.length]).toEqual(['running', 'starting', 'stopped', 2]);
  });

  it('has no room while the maximum of processes exists, and starts when another one is stopped', async () => {
    const others = [supervise(), supervise(), supervise()];
    for (const other of others) {
      void other.resume();
      await turns();
      latest().becomeReady();
    }
    await turns();
    const full = { code: 'runtime_unavailable', message: expect.stringContaining('SERVICE_MAX_CHILDREN') };
    await expect(supervise().start()).rejects.toMatchObject(full);
    const [abandoned, waiting] = [supervise(), supervise()];
    for (const each of [abandoned, waiting]) void each.resume();
    await turns();
    expect([waiting.state, waiting.reason]).toEqual(['no_room', full.message]);
    await abandoned.stop();
    // A process that waits for its restart keeps its place.
    processes[0]?.die('signal 9');
    await turns();
    expect([waiting.state, processes.length]).toEqual(['no_room', 3]);
    await others[0]?.stop();
    await turns();
    expect([waiting.state, waiting.reason, processes.length]).toEqual(['starting', null, 4]);
  });

  it('waits a different time than other supervisors do', () => {
    const series = () => {
      const delays = new RestartDelays({ first: 500, max: 30_000 });
      return Array.from({ length: 20 }, () => delays.next());
    };
    expect(series()).not.toEqual(series());
  });
});
