import { AsyncLocalStorage } from 'node:async_hooks';
import type { CurrentRequest } from '../../application/shared/ports/current-request.js';

export class AsyncCurrentRequest implements CurrentRequest {
  private readonly current = new AsyncLocalStorage<string>();

  get id(): string | null {
    return this.current.getStore() ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return this.current.run(id, work);
  }
}
