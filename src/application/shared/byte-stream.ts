/** Bytes that are never held in memory as a whole. */
export interface ByteStream {
  /** Is null if unknown. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}
