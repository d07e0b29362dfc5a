import { Client, type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { isAnswerOverdue } from './storage-errors.js';

/**
 * Ends a connection on which an answer is overdue. pg would keep it, and the next statement, such as the ROLLBACK of the
 * same transaction, would wait for the missing answer as well.
 */
export class LimitedClient extends Client {
  override query(...given: never[]): never {
    const answer: unknown = super.query(...(given as [never]));
    if (answer instanceof Promise) answer.catch((error: unknown) => this.endIfOverdue(error));
    return answer as never;
  }

  private async endIfOverdue(error: unknown): Promise<void> {
    if (isAnswerOverdue(error)) await this.end().catch(() => undefined);
  }
}

export const poolOf = ({ driver }: DataSource): Pool => (driver as PostgresDriver).master;
