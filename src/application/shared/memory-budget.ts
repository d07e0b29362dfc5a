/** The memory of one request for stored content. */
export interface MemoryBudget {
  /**
   * Reserves memory for JSON texts of these lengths, in bytes, until the request ends. Waits for memory if the texts
   * are large. Throws a refusal after a long wait. First releases what this budget reserved before, because two
   * requests that hold memory and wait for more could block each other.
   */
  reserve(...lengths: number[]): Promise<void>;
}

/** A use case that takes this reads large content into memory. */
export interface WithMemory {
  readonly memory: MemoryBudget;
}
