export interface EmbeddingRequest {
  /** From 1 to `embeddingLimits.texts` texts, none empty. */
  readonly texts: readonly string[];
  /** The numbers of a vector. Only some engines elsewhere can choose it. */
  readonly dimensions?: number;
}

export interface Embeddings {
  /** A vector for each text, in the order of the texts. All have the same length, and only finite numbers. */
  readonly vectors: readonly Float32Array[];
  /** Is null if the runtime does not report it. */
  readonly promptTokens: number | null;
}

export const embeddingLimits = { texts: 2_048, dimensions: 65_536 } as const;
