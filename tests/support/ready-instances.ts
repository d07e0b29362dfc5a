import { type Answer, type CallOptions, HttpCaller } from './http-caller.js';

/** Sends each call to the next ready instance, like a proxy that reads `/health/ready`. */
export class ReadyInstances extends HttpCaller {
  private next = 0;

  constructor(private readonly instances: () => readonly HttpCaller[]) {
    super('');
  }

  override async call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    const first = this.next++; // Another call may come during the loop.
    for (let tried = 0; tried < this.instances().length; tried++) {
      const instance = this.instances()[(first + tried) % this.instances().length] as HttpCaller;
      const ready = await instance.get('/health/ready').catch(() => null);
      if (ready?.status === 200) return instance.call(method, path, options);
    }
    throw new Error('no instance is ready');
  }
}
