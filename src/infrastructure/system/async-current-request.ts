import { injectable } from 'inversify';
import type { RequestContext } from '../../application/shared/ports.js';
import { Carried } from './carried.js';

@injectable()
export class AsyncRequestContext implements RequestContext {
  private readonly current = new Carried<string>();

  get id(): string | null {
    return this.current.value ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return this.current.run(id, work);
  }
}
