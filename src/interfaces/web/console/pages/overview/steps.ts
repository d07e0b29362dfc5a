/** The steps from an empty service to a first answer. */
export const steps = ['project', 'model', 'runtime', 'question'] as const;
export type Step = (typeof steps)[number];

export interface KnownRuntime {
  readonly project_id: string;
  readonly project_name: string;
  readonly state: 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';
  readonly reason: string | null;
}

export interface Progress {
  /** The project to continue with. It is the one with the most steps done. */
  readonly project: KnownRuntime | null;
  readonly next: Step;
}

/** The states of a runtime, from the fewest to the most steps done. An `unavailable` runtime must be started again. */
const STATES = ['not_connected', 'unavailable', 'stopped', 'loading', 'ready'] as const;

/**
 * Returns the project that is nearest to an answer, and its next step. `runtimes` must be sorted, the newest first.
 * Among equal projects, returns the newest.
 */
export function progressOf(runtimes: readonly KnownRuntime[]): Progress {
  const project = STATES.toReversed()
    .map((state) => runtimes.find((runtime) => runtime.state === state))
    .find((runtime) => runtime !== undefined);
  if (!project) return { project: null, next: 'project' };
  const { state } = project;
  return { project, next: state === 'not_connected' ? 'model' : state === 'ready' ? 'question' : 'runtime' };
}
