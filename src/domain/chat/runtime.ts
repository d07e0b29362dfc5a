export type RuntimeState = 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';

/** A model as its engine needs it. Only the engine of that kind knows the other fields. */
export interface RuntimeSource {
  readonly kind: string;
}

/** The state of a runtime now. `reason` says why it is `unavailable`, else it is null. */
export interface RuntimeStatus {
  readonly state: Exclude<RuntimeState, 'not_connected'>;
  readonly reason: string | null;
}

/** The runtime of a project as its team sees it. */
export interface ProjectRuntime {
  readonly state: RuntimeState;
  readonly modelId: string | null;
  readonly reason: string | null;
}
