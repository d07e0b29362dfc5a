/** Bytes on their way: nobody holds more than a piece of them. */
export interface ByteStream {
  /** How many there will be, where that is known. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}
