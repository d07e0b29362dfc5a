import type { Client } from 'pg';
import { type AfterQueryEvent, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import { isAnswerOverdue } from './storage-errors.js';

/**
 * Ends a connection on which no answer came in time. pg would keep it, and the next statement, such as the ROLLBACK of
 * the same transaction, would wait behind the answer that is missing.
 */
@EventSubscriber()
export class DropsSilentConnections implements EntitySubscriberInterface {
  async afterQuery({ error, queryRunner }: AfterQueryEvent): Promise<void> {
    if (!isAnswerOverdue(error)) return;
    const client = (await queryRunner.connect()) as Client;
    client.end().catch(() => undefined); // nobody waits for its end
  }
}
