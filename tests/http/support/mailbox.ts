import type { Container } from 'inversify';
import { MAIL, MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { Mailer } from '../../../src/application/accounts/ports.js';
import { AlertAnnouncer, ANNOUNCEMENT } from '../../../src/application/alerts/alert-announcer.js';
import { MemoryMailer } from '../../fakes/accounts/memory-mailer.js';
import { runTasks } from './run-tasks.js';
import type { TestApp } from './test-app.js';

/** Receives the e-mails of a `TestApp` that was started with `adapt: receivesMail`. */
export const receivesMail = (container: Container): void => {
  container.rebind(Mailer).toConstantValue(new MemoryMailer());
};

/** Delivers the waiting e-mails and returns all that went to `address`, oldest first. */
export async function mailsTo(app: TestApp, address: string): Promise<string[]> {
  const { container } = app;
  await runTasks(app, {
    [ANNOUNCEMENT]: container.get(AlertAnnouncer), // adds e-mails
    [MAIL]: container.get(MailQueue),
  });
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
