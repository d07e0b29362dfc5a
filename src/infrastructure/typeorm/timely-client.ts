import { Client, type ClientConfig } from 'pg';

/**
 * A connection that ends itself when an answer does not come within the time limit. It may never come, and whoever
 * had the connection next would wait for it as well.
 */
export class TimelyClient extends Client {
  constructor(config: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const answer = query(...given);
      if (answer instanceof Promise) answer.catch((error: Error) => this.endIfLate(error));
      return answer;
    }) as typeof this.query;
  }

  private endIfLate({ message }: Error): void {
    if (message === 'Query read timeout') void this.end();
  }
}
