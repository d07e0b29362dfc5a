import { Logger, runOnce } from 'graphile-worker';
import type { Container } from 'inversify';
import { MAIL, MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { Mailer } from '../../../src/application/accounts/ports.js';
import { AlertAnnouncer, ANNOUNCEMENT } from '../../../src/application/alerts/alert-announcer.js';
import type { TaskWorker } from '../../../src/application/shared/ports.js';
import type { Envelope } from '../../../src/infrastructure/typeorm/queue/task-runner.js';
import { poolOf } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryMailer } from '../../fakes/accounts/memory-mailer.js';
import type { TestApp } from './test-app.js';

const quiet = new Logger(() => () => undefined);

/** Receives the e-mails of a `TestApp` that was started with `adapt: receivesMail`. */
export const receivesMail = (container: Container): void => {
  container.rebind(Mailer).toConstantValue(new MemoryMailer());
};

/** Delivers the waiting e-mails and returns all that went to `address`, oldest first. */
export async function mailsTo({ container, source }: TestApp, address: string): Promise<string[]> {
  const { signal } = new AbortController();
  const running = (worker: TaskWorker) => (task: unknown) =>
    worker.run((task as Envelope).payload, { number: 1, signal });
  const taskList = {
    [ANNOUNCEMENT]: running(container.get(AlertAnnouncer)), // adds e-mails
    [MAIL]: running(container.get(MailQueue)),
  };
  await runOnce({ pgPool: poolOf(source), taskList, logger: quiet, noHandleSignals: true });
  const { sent } = container.get(Mailer) as MemoryMailer;
  return sent.filter(({ message }) => message.to.address === address).map(({ message }) => message.text);
}

/** Returns the newest token with this prefix that was mailed to `address`. */
export async function tokenMailedTo(app: TestApp, address: string, prefix: 'tnv' | 'tnr'): Promise<string> {
  const tokens = (await mailsTo(app, address)).flatMap((text) => text.match(/tn[vr]_[0-9A-Za-z]{49}/) ?? []);
  const token = tokens.filter((one) => one.startsWith(prefix)).at(-1);
  if (!token) throw new Error(`no e-mail with ${prefix}_ went to ${address}`);
  return token;
}
