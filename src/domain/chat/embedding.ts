import type { VerbatimRequest } from './chat.js';

export interface EmbeddingRequest {
  /** From 1 to `embeddingLimits.texts` texts, none of them empty. */
  readonly texts: readonly string[];
  /** The length of a vector. Only some engines elsewhere accept this field. */
  readonly dimensions?: number;
  readonly verbatim?: VerbatimRequest;
}

export interface Embeddings {
  /** A vector for each text, in the order of the texts. All vectors have the same length and only finite numbers. */
  readonly vectors: readonly Float32Array[];
  /** The tokens of all texts. Null: the runtime does not report them. */
  readonly promptTokens: number | null;
  /** The JSON of the engine's answer without its `model`, if the engine got the request verbatim. */
  readonly verbatim?: string;
}

export const embeddingLimits = { texts: 2_048, dimensions: 65_536 } as const;
