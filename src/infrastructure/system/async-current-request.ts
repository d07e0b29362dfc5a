import type { CurrentRequest } from '../../application/shared/ports/current-request.js';
import { Carried } from './carried.js';

export class AsyncCurrentRequest implements CurrentRequest {
  private readonly current = new Carried<string>();

  get id(): string | null {
    return this.current.value ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return this.current.run(id, work);
  }
}
