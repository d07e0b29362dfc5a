import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Starter } from '../../domain/workspace/starter.js';
import { StarterCatalog } from './ports.js';

@injectable()
export class StarterService {
  constructor(private readonly starters: StarterCatalog) {}

  async list(by: Caller | null): Promise<readonly Starter[]> {
    authorize(by, permissions.readWorkspace);
    return this.starters.all();
  }
}
