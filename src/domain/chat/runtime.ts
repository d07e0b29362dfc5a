export type RuntimeState = 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';

/** What a connected model needs to run. `onnx`: the absolute, resolved path of a model folder. */
export interface RuntimeSource {
  readonly kind: 'onnx';
  readonly folder: string;
}

/** The state of a runtime's process as it is now. `reason` says why it is `unavailable`, else null. */
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
