import { Container } from 'inversify';
import { MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { AlertAnnouncer } from '../../../src/application/alerts/alert-announcer.js';
import { CallReaper } from '../../../src/application/jobs/call-reaper.js';
import { EvaluationRunner } from '../../../src/application/jobs/evaluation-runner.js';
import { WorkQueue } from '../../../src/application/shared/ports.js';
import { backgroundWork } from '../../../src/bootstrap/background.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { RecordingLog } from '../../support/recording-log.js';

describe('backgroundWork', () => {
  afterEach(() => jest.useRealTimers());

  it('repeats alerts every minute, also after a failure', async () => {
    jest.useFakeTimers();
    const container = new Container();
    const queue = { register: jest.fn(), start: async () => undefined, stop: async () => undefined };
    const repeat = jest.fn(() => Promise.reject(new Error('no')));
    container.bind<unknown>(WorkQueue).toConstantValue(queue);
    container.bind<unknown>(AlertAnnouncer).toConstantValue({ repeat });
    container.bind<unknown>(CallReaper).toConstantValue({ execute: async () => undefined });
    for (const worker of [EvaluationRunner, MailQueue]) container.bind<unknown>(worker).toConstantValue({});
    container.bind(OutageLog).toConstantValue(new OutageLog(new RecordingLog()));
    const work = backgroundWork(container);
    await work.start();
    await jest.advanceTimersByTimeAsync(120_000);
    expect(repeat).toHaveBeenCalledTimes(3);
    const stopped = work.stop(1);
    await jest.advanceTimersByTimeAsync(1);
    await stopped;
  });
});
