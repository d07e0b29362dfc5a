import type { Caller } from './caller.js';
import { KeyRestricted } from './key-restrictions.js';

/** Decides which objects an API key is for. Sessions and the master key are for all objects that they may see. */
export const KeyScope = {
  /** Returns the projects that the caller's key is for. Null: all projects that the caller may see. */
  projectsOf: (caller: Caller): readonly string[] | null =>
    caller.kind === 'master' ? null : (caller.restrictions?.projects ?? null),

  /** Tells whether the caller's key is for an object of a project. Null: the object is in no project. */
  covers(caller: Caller, projectId: string | null): boolean {
    const projects = KeyScope.projectsOf(caller);
    return projects === null || (projectId !== null && projects.includes(projectId));
  },

  /** Throws KeyRestricted if the caller's key is for other projects. */
  requireProject(caller: Caller, projectId: string | null): void {
    if (KeyScope.covers(caller, projectId)) return;
    throw new KeyRestricted(projectId === null ? 'is for some projects only' : 'is for other projects');
  },
};
