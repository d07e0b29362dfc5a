/** Bytes that are never held in memory as a whole. */
export interface ByteStream {
  /** Null if unknown. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}
