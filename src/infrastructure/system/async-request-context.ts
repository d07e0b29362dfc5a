import { AsyncLocalStorage } from 'node:async_hooks';
import { injectable } from 'inversify';
import type { RequestContext } from '../../application/shared/ports.js';

@injectable()
export class AsyncRequestContext implements RequestContext {
  private readonly current = new AsyncLocalStorage<string>();

  get id(): string | null {
    return this.current.getStore() ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return this.current.run(id, work);
  }
}
