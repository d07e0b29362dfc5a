import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Metrics } from './ports.js';

@injectable()
export class ReadMetrics {
  constructor(private readonly metrics: Metrics) {}

  async execute(input: { by: Caller | null }): Promise<string> {
    authorize(input.by, permissions.readMetrics);
    return this.metrics.read();
  }
}
