import { Container } from 'inversify';
import { MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { AlertNotifier } from '../../../src/application/alerts/ports.js';
import { WebhookDelivery } from '../../../src/application/alerts/webhook-delivery.js';
import { CallReaper } from '../../../src/application/jobs/call-reaper.js';
import { EvaluationRunner } from '../../../src/application/jobs/evaluation-runner.js';
import { WorkQueue } from '../../../src/application/shared/ports.js';
import { backgroundWork } from '../../../src/bootstrap/background.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { RecordingLog } from '../../support/recording-log.js';

describe('backgroundWork', () => {
  afterEach(() => jest.useRealTimers());

  it('repeats the alerts of each notifier every minute, also if another notifier hangs or fails', async () => {
    jest.useFakeTimers();
    const container = new Container();
    const queue = { register: jest.fn(), start: async () => undefined, stop: async () => undefined };
    container.bind<unknown>(WorkQueue).toConstantValue(queue);
    container.bind<unknown>(WebhookDelivery).toConstantValue({ register: jest.fn() });
    container.bind<unknown>(CallReaper).toConstantValue({ execute: async () => undefined });
    for (const worker of [EvaluationRunner, MailQueue]) container.bind<unknown>(worker).toConstantValue({});
    container.bind(OutageLog).toConstantValue(new OutageLog(new RecordingLog()));
    const hangs = jest.fn(() => new Promise<void>(() => {}));
    const fails = jest.fn(() => Promise.reject(new Error('no')));
    const works = jest.fn(async () => undefined);
    for (const repeat of [hangs, fails, works]) container.bind<unknown>(AlertNotifier).toConstantValue({ repeat });
    const work = backgroundWork(container);
    await work.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([hangs, fails, works].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 2]);
    const stopped = work.stop(1);
    await jest.advanceTimersByTimeAsync(1);
    await stopped;
  });
});
