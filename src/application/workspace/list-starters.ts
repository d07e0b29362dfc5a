import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Starter } from '../../domain/workspace/starter.js';
import { StarterCatalog } from './ports.js';

@injectable()
export class ListStarters {
  constructor(private readonly starters: StarterCatalog) {}

  async execute(input: { by: Caller | null }): Promise<readonly Starter[]> {
    authorize(input.by, permissions.readWorkspace);
    return this.starters.all();
  }
}
