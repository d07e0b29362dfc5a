import type { Attempt, TaskWorker, UnitOfWork, WorkQueue } from '../../../src/application/shared/ports.js';
import { RetryAfter } from '../../../src/application/shared/retry-after.js';
import type { Json } from '../../../src/domain/workspace/json.js';
import { gate } from '../../support/barrier.js';
import { eventually } from '../../support/eventually.js';

export interface InstanceUnderTest {
  readonly number: number;
  readonly queue: WorkQueue;
  readonly unitOfWork: UnitOfWork;
}

export interface WorkQueueUnderTest {
  /** Opens the queue of another instance on the same store. */
  instance(): Promise<InstanceUnderTest>;
  /** Makes all waiting tasks due. */
  makeDue(): Promise<void>;
  /** Returns the seconds until the last waiting task is due. */
  secondsUntilDue(): Promise<number>;
  /** Counts the tasks that wait or run. */
  tasks(): Promise<number>;
  /** Stops all instances and deletes all tasks. */
  clear(): Promise<void>;
}

/** Records its calls, then runs the functions of the test. */
class Recorder implements TaskWorker {
  readonly runs: { payload: Json; number: number }[] = [];
  readonly abandoned: { payload: Json; reason: string }[] = [];

  constructor(
    readonly atOnce: number,
    private readonly act: (payload: Json, attempt: Attempt) => Promise<void> | void = () => undefined,
    private readonly giveUp: () => void = () => undefined,
  ) {}

  async run(payload: Json, attempt: Attempt): Promise<void> {
    this.runs.push({ payload, number: attempt.number });
    await this.act(payload, attempt);
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    this.abandoned.push({ payload, reason });
    this.giveUp();
  }

  get payloads(): Json[] {
    return this.runs.map(({ payload }) => payload).sort();
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

const between = (value: number, least: number, most: number) => value > least && value <= most;

const forever = () => new Promise<void>(() => undefined);

export function workQueueContract(adapter: string, rig: WorkQueueUnderTest) {
  describe(`WorkQueue in ${adapter}`, () => {
    afterEach(() => rig.clear());

    async function started(worker: TaskWorker, task = 'task'): Promise<InstanceUnderTest> {
      const instance = await rig.instance();
      instance.queue.register(task, worker);
      await instance.queue.start();
      return instance;
    }

    it('runs each task once, on any instance, and at most as many at once as the worker allows', async () => {
      const counts: number[] = [];
      const counting = () => {
        let running = 0;
        return async () => {
          counts.push(++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running--;
        };
      };
      const workers = [new Recorder(2, counting()), new Recorder(2, counting())];
      const instances = await Promise.all(workers.map((worker) => started(worker)));
      const all = Array.from({ length: 20 }, (_, index) => String(index + 10));
      await Promise.all(all.map((payload) => instances[0]?.queue.enqueue('task', payload)));
      await eventually(async () => (await rig.tasks()) === 0);
      expect(workers.flatMap(({ payloads }) => payloads).sort()).toEqual(all);
      expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    });

    it('runs tasks that were added before its start, and does not run tasks without a worker', async () => {
      const { queue } = await rig.instance();
      await queue.enqueue('of others', 1);
      await queue.enqueue('task', { nested: ['a', null, 1.5] });
      const worker = new Recorder(1);
      await started(worker);
      await eventually(() => worker.runs.length === 1);
      expect(worker.payloads).toEqual([{ nested: ['a', null, 1.5] }]);
    });

    it('runs a task after its unit of work commits, and never if the unit of work is rolled back', async () => {
      const worker = new Recorder(1);
      const { queue, unitOfWork } = await started(worker);
      const failing = unitOfWork.run(async () => {
        await queue.enqueue('task', 'lost');
        throw new Error('on second thoughts');
      });
      await expect(failing).rejects.toThrow('on second thoughts');
      await unitOfWork.run(async () => {
        await queue.enqueue('task', 'kept');
        await queue.enqueue('task', 'kept too');
      });
      await eventually(() => worker.runs.length === 2);
      expect(worker.payloads).toEqual(['kept', 'kept too']);
    });

    it('ignores a second task with the same key while the first waits or runs, and accepts it afterwards', async () => {
      const { opened: ended, open: end } = gate();
      const waiting = await rig.instance();
      await waiting.queue.enqueue('task', 'first', { key: 'k' });
      await waiting.queue.enqueue('task', 'second', { key: 'k' });
      const worker = new Recorder(2, () => ended);
      const { queue } = await started(worker);
      await eventually(() => worker.runs.length === 1);
      await queue.enqueue('task', 'third', { key: 'k' });
      end();
      await eventually(async () => (await rig.tasks()) === 0);
      await queue.enqueue('task', 'fourth', { key: 'k' });
      await eventually(() => worker.runs.length === 2);
      expect(worker.payloads).toEqual(['first', 'fourth']);
    });

    it('retries a failed task later, and runs other tasks meanwhile', async () => {
      const worker = new Recorder(1, (payload, { number }) => {
        if (payload === 'bad' && number < 3) throw new Error('not yet');
      });
      const { queue } = await started(worker);
      await queue.enqueue('task', 'bad');
      await eventually(() => worker.runs.length === 1);
      await queue.enqueue('task', 'good');
      await eventually(() => worker.runs.some(({ payload }) => payload === 'good'));
      for (const attempts of [2, 3]) {
        await rig.makeDue();
        await eventually(() => worker.runs.some(({ number }) => number === attempts));
      }
      await eventually(async () => (await rig.tasks()) === 0);
      expect(worker.runs.filter(({ payload }) => payload === 'bad').map(({ number }) => number)).toEqual([1, 2, 3]);
      expect(worker.abandoned).toEqual([]);
    });

    it('calls `gaveUp` after the last attempt, and retries `gaveUp` until it succeeds', async () => {
      let refusals = 1;
      const worker = new Recorder(
        1,
        () => Promise.reject(new Error('never')),
        () => {
          if (refusals-- > 0) throw new Error('no time to give up');
        },
      );
      const { queue } = await started(worker);
      await queue.enqueue('task', 'bad', { maxAttempts: 2 });
      await eventually(() => worker.runs.length === 1);
      await eventually(async () => {
        await rig.makeDue();
        return worker.abandoned.length === 2;
      });
      expect(worker.runs.length).toBe(2);
      expect(worker.abandoned[0]).toEqual({ payload: 'bad', reason: 'never' });
    });

    it('aborts running tasks when its instance stops, and another instance runs them again', async () => {
      const first = new Recorder(1, async (_, { signal }) => {
        await aborted(signal);
        throw new Error('broken off');
      });
      const { queue } = await started(first);
      await queue.enqueue('task', 'long', { maxAttempts: 1 });
      await eventually(() => first.runs.length === 1);
      await queue.stop(10_000);
      await queue.enqueue('task', 'next');
      const second = new Recorder(1);
      await started(second);
      await eventually(() => second.runs.length === 2);
      expect(second.runs).toContainEqual({ payload: 'long', number: 1 });
      expect(first.runs.length).toBe(1);
    });

    it('stops after the given time even if a task ignores its signal', async () => {
      const worker = new Recorder(1, forever);
      const { queue, number } = await started(worker);
      await queue.enqueue('task', 'stubborn');
      await eventually(() => worker.runs.length === 1);
      await queue.stop(10);
      expect(await queue.instances()).toEqual([number]);
    });

    it('lets others run the tasks of a dead instance, and gives up those that were at their last attempt', async () => {
      const dying = new Recorder(2, forever);
      const dead = await started(dying);
      await dead.queue.enqueue('task', 'once more', { maxAttempts: 2 });
      await dead.queue.enqueue('task', 'poison', { maxAttempts: 1 });
      await eventually(() => dying.runs.length === 2);
      const heir = new Recorder(2);
      const { queue, number } = await started(heir);
      await dead.queue.stop(0);
      expect(await queue.instances()).toContain(dead.number);
      expect(heir.runs).toEqual([]);
      await queue.release(dead.number);
      await eventually(() => heir.runs.length === 1 && heir.abandoned.length === 1);
      expect(heir.runs).toEqual([{ payload: 'once more', number: 2 }]);
      expect(heir.abandoned).toEqual([{ payload: 'poison', reason: 'its instance died' }]);
      await eventually(async () => `${await queue.instances()}` === `${number}`);
    });

    it('aborts a task of an instance that was considered dead, and a new worker runs the task', async () => {
      const { opened: ended, open: end } = gate();
      const act = async (payload: Json, { number, signal }: Attempt) => {
        if (payload === 'long') await (number === 1 ? aborted(signal) : ended);
      };
      const [hung, heir] = [new Recorder(1, act), new Recorder(1, act)];
      const { queue, number } = await started(hung);
      await queue.enqueue('task', 'long');
      await eventually(() => hung.runs.length === 1);
      const other = await started(heir);
      await other.queue.release(number);
      await other.queue.enqueue('task', 'next');
      // The new worker belongs to the other instance, or to the same one in place of the aborted worker.
      const runs = () => [...hung.runs, ...heir.runs];
      await eventually(() => runs().length === 3);
      expect(runs()).toContainEqual({ payload: 'long', number: 2 });
      expect(runs()).toContainEqual({ payload: 'next', number: 1 });
      await eventually(async () => (await rig.tasks()) === 1);
      expect(await other.queue.instances()).toContain(number);
      end();
      await eventually(async () => (await rig.tasks()) === 0);
    });

    it('runs tasks of one queue name one after another on all instances, and other tasks meanwhile', async () => {
      const { opened: ended, open: end } = gate();
      const workers = [new Recorder(3, () => ended), new Recorder(3, () => ended)] as const;
      const runs = () => workers.flatMap(({ payloads }) => payloads).sort();
      const { queue } = await started(workers[0]);
      await started(workers[1]);
      for (let nth = 1; nth <= 20; nth++) await queue.enqueue('task', `a${nth}`, { queueName: 'a' });
      await eventually(() => runs().length === 1);
      await queue.enqueue('task', 'b1', { queueName: 'b' });
      await queue.enqueue('task', 'c1');
      await eventually(() => runs().length === 3);
      expect(runs()).toEqual(['a1', 'b1', 'c1']);
      end();
      await eventually(async () => (await rig.tasks()) === 0);
      expect(runs()).toHaveLength(22);
    });

    it('retries a failed task after the usual pause, or after the pause that RetryAfter names', async () => {
      const worker = new Recorder(1, (_, { number }) =>
        Promise.reject(number === 1 ? new Error('never') : new RetryAfter('never', 5_000)),
      );
      const { queue } = await started(worker);
      await queue.enqueue('task', 'bad');
      for (const most of [2.72, 5.01]) {
        await eventually(async () => between(await rig.secondsUntilDue(), most - 2, most));
        await rig.makeDue();
      }
      await eventually(() => worker.runs.length === 3);
    });
  });
}
