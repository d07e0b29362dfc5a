import { DomainError } from '../../domain/shared/errors.js';
import { Place, Room } from './memory-room.js';

/** A reservation of at most this many bytes never waits. */
export const SMALL_BYTES = 100 * 1024;

/** A reservation of at most this many bytes is never refused. */
const TINY_BYTES = 8 * 1024;

/** Limits the number of values in a JSON text that is parsed as a whole. */
export const MAX_VALUES = 200_000;

/** The largest number of bytes that a parsed JSON value takes in memory, with its name. */
const VALUE_BYTES = 96;

const WAIT_MS = 5_000;

/** Returns the largest number of bytes that the parsed values of a JSON text of this length take in memory. */
export const parsedBytes = (length: number, values: number): number => length + VALUE_BYTES * values;

/** Returns the memory for JSON texts of these lengths and for their parsed values. */
function bytesOf(lengths: readonly number[]): number {
  const total = sum(lengths);
  // A small text that arrives slowly must not hold room for its values.
  if (total <= SMALL_BYTES) return total;
  return total + sum(lengths.map((length) => parsedBytes(length, Math.min(length / 2, MAX_VALUES))));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

class MemoryBusy extends DomainError {
  constructor(requests: string, waitMs: number) {
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `Too many ${requests} at once: try again in ${retryAfterSeconds} s.`;
    super('unavailable', 'busy', message, { retryAfterSeconds });
  }
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  /** The call holds large memory already, and keeps it while it waits. */
  readonly holds: boolean;
  readonly begin: (room: Room) => void;
}

/**
 * The memory of this process for large bodies, stored content and answers, raw and parsed. Accounts share it fairly, and
 * so do the addresses of strangers. Large reservations that find no room wait. The owner who holds least is served
 * first. A call that holds large content and waits for more may take it beyond the limit, one call at a time. Who has
 * waited too long gets 503 `busy`. Small reservations have separate room of the same size, so that many
 * slow small bodies take no room from the large ones.
 */
export class MemoryBudget {
  private readonly small: Room;
  private readonly large: Room;
  /** Takes one reservation at a time, from a call that holds large content and finds the room full. */
  private readonly beyond = new Room(0);
  private readonly waiting: Waiting[] = [];

  constructor(
    maxBytes: number,
    private readonly waitMs = WAIT_MS,
  ) {
    this.small = new Room(maxBytes);
    this.large = new Room(maxBytes);
  }

  /** Opens an empty reservation for one call. `owner` names an account, or the address of a stranger. */
  open(owner: string): Reservation {
    return new Reservation(this, owner);
  }

  isBeyond({ room }: Place): boolean {
    return room === this.beyond;
  }

  /** Returns a place for a small reservation. Throws `busy` if the owner may not hold so much. */
  enterSmall(owner: string, bytes: number): Place {
    if (bytes > TINY_BYTES && !this.small.takes(owner, bytes)) throw new MemoryBusy('requests', this.waitMs);
    return new Place(this.small, owner, bytes);
  }

  /** Returns a place for a large reservation when there is room. Rejects when `left` aborts. */
  enterLarge(owner: string, bytes: number, holds: boolean, left: AbortSignal): Promise<Place> {
    return new Promise<Place>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        left.removeEventListener('abort', giveUp);
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
      };
      const giveUp = () => {
        end();
        this.advance();
        reject(new MemoryBusy('large requests', this.waitMs));
      };
      const timer = setTimeout(giveUp, this.waitMs);
      const begin = (room: Room) => {
        end();
        resolve(new Place(room, owner, bytes));
      };
      const waiting = { owner, bytes, holds, begin };
      this.waiting.push(waiting);
      left.addEventListener('abort', giveUp);
      this.advance();
    });
  }

  /** Serves the waiting owner who holds least, as long as there is room. Nobody overtakes this owner in the room. */
  advance(): void {
    for (;;) {
      const first = this.first(this.waiting);
      if (!first) return;
      const holder = this.first(this.waiting.filter((one) => this.mayGoBeyond(one)));
      if (this.large.takes(first.owner, first.bytes)) first.begin(this.large);
      else if (holder && this.beyond.takes(holder.owner, holder.bytes)) holder.begin(this.beyond);
      else return;
    }
  }

  /** A call that holds memory waits for its owner's share only if there are other owners. */
  private mayGoBeyond({ owner, holds, bytes }: Waiting): boolean {
    const isAlone = this.large.isHeldBy(owner) && this.waiting.every((one) => one.owner === owner);
    return holds && (isAlone || this.large.isFull(bytes));
  }

  private first([oldest, ...others]: readonly Waiting[]): Waiting | undefined {
    return oldest && others.reduce((least, one) => (this.holdsLess(one, least) ? one : least), oldest);
  }

  private holdsLess(one: Waiting, other: Waiting): boolean {
    return this.heldBy(one.owner) < this.heldBy(other.owner);
  }

  private heldBy(owner: string): number {
    return this.large.heldBy(owner) + this.beyond.heldBy(owner);
  }
}

/** The part of the memory budget that one call holds: what it keeps until its end, and what it works with. */
export class Reservation {
  private readonly kept: Place[] = [];
  private work: Place | null = null;
  private readonly left = new AbortController();

  constructor(
    private readonly budget: MemoryBudget,
    private readonly owner: string,
  ) {}

  /**
   * Reserves memory for JSON texts of these lengths, in bytes, and for their parsed values. Waits for memory if the
   * texts are large. Throws `busy` after a long wait. First releases what this reservation held, except what it keeps,
   * because two calls that hold memory and wait for more could block each other.
   */
  reserve(...lengths: number[]): Promise<void> {
    return this.reserveBytes(bytesOf(lengths));
  }

  /** Reserves memory for bytes that are not parsed. Otherwise like `reserve`. */
  async reserveBytes(bytes: number): Promise<void> {
    this.release();
    if (this.left.signal.aborted) return;
    const { budget, owner } = this;
    const holds = sum(this.kept.map(({ size }) => size)) > SMALL_BYTES;
    this.work = bytes <= SMALL_BYTES ? budget.enterSmall(owner, bytes) : await this.enterLarge(bytes, holds);
    if (this.left.signal.aborted) this.release();
  }

  /**
   * Reserves memory for content that grows to these lengths. Holds what was reserved until there is memory for the
   * whole, because the call keeps what it has read. Otherwise like `reserve`.
   */
  grow(...lengths: number[]): Promise<void> {
    return this.growBytes(bytesOf(lengths));
  }

  /** Reserves memory for bytes that are not parsed. Otherwise like `grow`. */
  async growBytes(bytes: number): Promise<void> {
    const before = this.work;
    if (!before || before.size <= SMALL_BYTES) return this.reserveBytes(bytes);
    // No other call can be beyond the limit.
    if (bytes <= before.size || this.budget.isBeyond(before)) {
      before.resize(bytes);
      return this.budget.advance();
    }
    const added = await this.enterLarge(bytes - before.size, true);
    const room = this.budget.isBeyond(added) ? added : before;
    const other = room === added ? before : added;
    other.resize(0);
    room.resize(bytes);
    this.work = room;
    if (this.left.signal.aborted) this.release();
    else this.budget.advance();
  }

  /** The number of reserved bytes, without what is kept. */
  get size(): number {
    return this.work?.size ?? 0;
  }

  /**
   * Keeps what is reserved until `close`, beside what was kept before and later reservations. `bytes` is its size now. It
   * may be more than was reserved only if that was small. Null keeps the size.
   */
  keep(bytes: number | null): void {
    const { work } = this;
    if (!work) return;
    if (bytes !== null && (bytes < work.size || work.size <= SMALL_BYTES)) work.resize(bytes);
    this.kept.push(work);
    this.work = null;
    this.budget.advance();
  }

  /** Lowers the number of reserved bytes, except what is kept. */
  lower(bytes: number): void {
    if (!this.work || bytes >= this.work.size) return;
    this.work.resize(bytes);
    this.budget.advance();
  }

  /** Releases the memory, also for later reservations: the call has ended. */
  close(): void {
    this.left.abort();
    for (const place of this.kept) place.resize(0);
    this.release();
  }

  private async enterLarge(bytes: number, holds: boolean): Promise<Place> {
    const { budget, owner, left } = this;
    // If the call keeps content beyond the limit, no other call can be there.
    const beyond = this.kept.find((place) => budget.isBeyond(place));
    return beyond ? new Place(beyond.room, owner, bytes) : budget.enterLarge(owner, bytes, holds, left.signal);
  }

  private release(): void {
    this.work?.resize(0);
    this.work = null;
    this.budget.advance();
  }
}

/** A use case that takes this reads large content into memory. */
export interface WithMemory {
  readonly memory: Reservation;
}
