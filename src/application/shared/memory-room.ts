/** Memory that owners share fairly: each may hold as much as is then still free for the others. */
export class Room {
  private held = 0;
  private readonly byOwner = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  heldBy(owner: string): number {
    return this.byOwner.get(owner) ?? 0;
  }

  /** Returns whether nobody else holds anything. */
  isHeldBy(owner: string): boolean {
    return this.held === this.heldBy(owner);
  }

  /** An empty room takes one reservation of any size. */
  takes(owner: string, bytes: number): boolean {
    const left = this.maxBytes - this.held - bytes;
    return this.held === 0 || (left >= 0 && this.heldBy(owner) <= left);
  }

  /** Returns whether the bytes do not fit, whoever wants them. */
  isFull(bytes: number): boolean {
    return this.held + bytes > this.maxBytes;
  }

  add(owner: string, bytes: number): void {
    this.held += bytes;
    const held = this.heldBy(owner) + bytes;
    if (held > 0) this.byOwner.set(owner, held);
    else this.byOwner.delete(owner);
  }
}

/** A place in a room for some bytes of an owner. */
export class Place {
  private bytes = 0;

  constructor(
    readonly room: Room,
    private readonly owner: string,
    bytes: number,
  ) {
    this.resize(bytes);
  }

  get size(): number {
    return this.bytes;
  }

  resize(bytes: number): void {
    this.room.add(this.owner, bytes - this.bytes);
    this.bytes = bytes;
  }
}
