import { injectable } from 'inversify';
import type { Message } from '../../domain/accounts/mailed-token.js';
import type { Json } from '../../domain/workspace/json.js';
import { type Attempt, IdGenerator, Logger, type TaskWorker, WorkQueue } from '../shared/ports.js';
import { backOffMs, RetryAfter } from '../shared/retry-after.js';
import { Mailer, MailSealer } from './ports.js';

/** Names the task that delivers one e-mail. */
export const MAIL = 'mail';

/** The content is sealed, because its links give access to an account. */
type SealedMail = { readonly id: string; readonly sealed: string };

/** With pauses of 15 minutes, these attempts last for about 100 days. */
const ATTEMPTS = 10_000;
const LONGEST_PAUSE_MS = 15 * 60_000;

/** Delivers e-mails as tasks of the work queue. */
@injectable()
export class MailQueue implements TaskWorker {
  readonly atOnce = 1;

  constructor(
    private readonly queue: WorkQueue,
    private readonly sealer: MailSealer,
    private readonly mailer: Mailer,
    private readonly ids: IdGenerator,
    private readonly log: Logger,
  ) {}

  /** Adds an e-mail within the caller's unit of work. The e-mail is sent only if the unit of work commits. */
  async add(message: Message): Promise<void> {
    const id = this.ids.next('msg');
    const mail: SealedMail = { id, sealed: this.sealer.seal(JSON.stringify(message), id) };
    await this.queue.enqueue(MAIL, mail, { key: id, maxAttempts: ATTEMPTS });
  }

  async run(payload: Json, { number }: Attempt): Promise<void> {
    const { id, sealed } = payload as SealedMail;
    try {
      const where = await this.mailer.send(id, this.open(id, sealed));
      this.log.info('mail delivered', { mail_id: id, where });
    } catch (error) {
      this.log.warn('mail not delivered', { mail_id: id, attempt: number, error });
      throw new RetryAfter(error, backOffMs(number, LONGEST_PAUSE_MS));
    }
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    this.log.error('mail given up', { mail_id: (payload as SealedMail).id, reason });
  }

  private open(id: string, sealed: string): Message {
    try {
      return JSON.parse(this.sealer.open(sealed, id)) as Message;
    } catch {
      throw new Error('the mail was sealed with another SERVICE_SECRET: start the service with that secret again');
    }
  }
}
