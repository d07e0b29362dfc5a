import type { Mailer } from '../../../src/application/accounts/ports.js';
import type { Message } from '../../../src/domain/accounts/mailed-token.js';

/** Collects the messages. Throws `failure` while it is set. */
export class MemoryMailer implements Mailer {
  readonly route = 'outbox';
  readonly sent: { readonly id: string; readonly message: Message }[] = [];
  failure: Error | null = null;

  async send(id: string, message: Message): Promise<string> {
    if (this.failure) throw this.failure;
    this.sent.push({ id, message });
    return 'memory';
  }
}
