import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import type { DesiredStateChanges } from '../../application/shared/ports.js';
import { RestartDelays } from '../system/scheduling.js';
import { OutageLog } from './storage-errors.js';
import { poolOf, type TypeOrmUnitOfWork } from './typeorm-unit-of-work.js';

const CHANNEL = 'tenon_desired_state';
const RECONNECT_DELAY_MS = { first: 500, max: 10_000 };

// The ORM has no notifications.
const NOTIFY = `SELECT pg_notify('${CHANNEL}', '')`;

/** The usual settings of the session would end an idle connection. */
const LISTEN = `SET idle_session_timeout = 0; LISTEN ${CHANNEL}`;

/** Returns the result of a change of the desired state. The commit of the transaction notifies every instance. */
export async function notifying<T>(unitOfWork: TypeOrmUnitOfWork, change: Promise<T>): Promise<T> {
  const result = await change;
  await unitOfWork.query(NOTIFY);
  return result;
}

/** Listens on a connection of its own. Replaces this connection with back-off when it breaks. */
@injectable()
export class PostgresDesiredStateChanges implements DesiredStateChanges {
  private readonly stopping = new AbortController();
  private readonly delays = new RestartDelays(RECONNECT_DELAY_MS);
  private listening: Promise<void> = Promise.resolve();

  constructor(
    private readonly source: DataSource,
    private readonly outages: OutageLog,
  ) {}

  listen(changed: () => void): void {
    this.listening = this.keepListening(changed);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.listening;
  }

  private async keepListening(changed: () => void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.listenOnce(changed).catch((error: unknown) => this.outages.failed('notifications of changes', error));
      await delay(this.delays.next(), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Listens until the connection ends or `stop` is called. */
  private async listenOnce(changed: () => void): Promise<void> {
    const { signal } = this.stopping;
    const client = new Client(poolOf(this.source).options);
    client.on('error', () => undefined); // the event `end` follows
    client.on('notification', changed);
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    client.once('end', end);
    signal.addEventListener('abort', end);
    try {
      await client.connect();
      await client.query(LISTEN);
      this.delays.reset();
      changed();
      await over;
    } finally {
      client.off('notification', changed);
      signal.removeEventListener('abort', end);
      void client.end().catch(() => undefined); // a server that is out of reach never confirms the end
    }
  }
}
