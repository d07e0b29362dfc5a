import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { type FoundObject, WorkspaceSearch } from './ports.js';

/** Finds objects of all projects of a team by name. */
@injectable()
export class SearchService {
  constructor(private readonly workspace: WorkspaceSearch) {}

  /** Returns at most `limit` objects of each kind, the newest first. */
  async find(by: Caller | null, { q, limit }: { readonly q: string; readonly limit: number }): Promise<FoundObject[]> {
    const caller = authorize(by, permissions.readWorkspace);
    return this.workspace.find(caller.teamId, q, limit, KeyScope.projectsOf(caller));
  }
}
