/** The steps from an empty service to a first answer. */
export const steps = ['project', 'model', 'runtime', 'question'] as const;
export type Step = (typeof steps)[number];

interface KnownRuntime {
  readonly project_id: string;
  readonly project_name: string;
  readonly state: 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';
  readonly reason: string | null;
}

export interface Progress {
  /** The project that the steps go on with, the furthest one. */
  readonly project: KnownRuntime | null;
  /** The step to do now. */
  readonly next: Step;
}

/** From the first to the last step that is done. A runtime that failed can be started again. */
const STATES = ['not_connected', 'unavailable', 'stopped', 'loading', 'ready'] as const;

/** Finds the project that is nearest to an answer, the newest of several, and its next step. `runtimes`: newest first. */
export function progressOf(runtimes: readonly KnownRuntime[]): Progress {
  const project = STATES.toReversed()
    .map((state) => runtimes.find((runtime) => runtime.state === state))
    .find((runtime) => runtime !== undefined);
  if (!project) return { project: null, next: 'project' };
  const { state } = project;
  return { project, next: state === 'not_connected' ? 'model' : state === 'ready' ? 'question' : 'runtime' };
}
