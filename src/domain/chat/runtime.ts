export type RuntimeState = 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';

/** Which of a folder's weights: by the names that exports give them. */
export const dtypes = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const;
export type Dtype = (typeof dtypes)[number];

/** A model that runs beside the service. */
export interface OnnxSource {
  readonly kind: 'onnx';
  /** The absolute, resolved path of a model folder. */
  readonly folder: string;
  /** Absent: the usual weights of the folder. */
  readonly dtype?: Dtype;
}

/** An engine that runs elsewhere and speaks OpenAI's chat completions. */
export interface OpenAiSource {
  readonly kind: 'openai';
  /** Without a slash at its end; `/chat/completions` follows it. */
  readonly baseUrl: string;
  /** What the engine calls the model. */
  readonly model: string;
  /** What else its answers may call it. */
  readonly modelAliases: readonly string[];
  /** A secret: not for logs, errors and answers. */
  readonly key: string | null;
}

/** What a connected model needs to run. */
export type RuntimeSource = OnnxSource | OpenAiSource;

/** The state of a runtime as it is now. `reason` says why it is `unavailable`, else null. */
export interface RuntimeStatus {
  readonly state: Exclude<RuntimeState, 'not_connected'>;
  readonly reason: string | null;
}

/** The runtime of a project as its team sees it. */
export interface ProjectRuntime {
  readonly state: RuntimeState;
  readonly modelId: string | null;
  readonly reason: string | null;
  /** The number of the process of the service whose it is; null or absent: nobody's. */
  readonly process?: number | null;
}
