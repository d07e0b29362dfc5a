import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Starter } from '../../domain/workspace/starter.js';
import type { Starters } from './ports/starters.js';

export class ListStarters {
  constructor(private readonly starters: Starters) {}

  async execute(input: { by: Caller | null }): Promise<readonly Starter[]> {
    authorize(input.by, permissions.readWorkspace);
    return this.starters.all();
  }
}
