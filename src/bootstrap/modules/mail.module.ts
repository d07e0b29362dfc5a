import { join } from 'node:path';
import { ContainerModule } from 'inversify';
import { DeliverMail } from '../../application/mail/deliver-mail.js';
import { Mailer } from '../../application/mail/ports/mailer.js';
import { Outbox } from '../../application/mail/ports/outbox.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Log } from '../../application/shared/ports/log.js';
import { Sealer } from '../../infrastructure/crypto/sealer.js';
import { FolderMailer } from '../../infrastructure/smtp/folder-mailer.js';
import { SmtpMailer } from '../../infrastructure/smtp/smtp-mailer.js';
import { TypeOrmOutbox } from '../../infrastructure/typeorm/mail/typeorm-outbox.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { OutboxSealer } from '../tokens.js';

export const mailModule = ({ smtpUrl, mailFrom, dataDir }: Config, secret: string) =>
  new ContainerModule((module) => {
    const mailer = smtpUrl ? new SmtpMailer(smtpUrl, mailFrom) : new FolderMailer(join(dataDir, 'outbox'), mailFrom);
    provideValue(module, Mailer, mailer);
    provideValue(module, OutboxSealer, new Sealer(secret, 'outbox'));
    provide(module, Outbox, TypeOrmOutbox, [TypeOrmUnitOfWork, OutboxSealer]);
    provide(module, DeliverMail, DeliverMail, [Outbox, Mailer, Clock, Log]);
  });
