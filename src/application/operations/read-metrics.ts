import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Metrics } from './ports/metrics.js';

export class ReadMetrics {
  constructor(private readonly metrics: Metrics) {}

  async execute(input: { by: Caller | null }): Promise<string> {
    authorize(input.by, permissions.readMetrics);
    return this.metrics.read();
  }
}
