import type { Response } from 'express';
import { MAX_VALUES } from './json-body.js';
import { HttpRefusal } from './refusals.js';

/** A body of at most this many bytes never waits. */
export const SMALL_BODY_BYTES = 100 * 1024;

/** The most that a parsed JSON value takes, its name included. */
const VALUE_BYTES = 96;

const WAIT_MS = 5_000;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Bounds the memory of all bodies that are read or held at once, parsed ones included. Without room, large bodies wait
 * in the order of arrival, and get 503 `busy` when they have waited too long.
 */
export class BodyMemory {
  private held = 0;
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly maxBytes: number,
    private readonly waitMs = WAIT_MS,
  ) {}

  /**
   * Reserves memory for a body of `length` bytes until the response is closed. Returns a function that lowers the
   * reservation, once the body is parsed, to what that many values take. Throws busy.
   */
  async reserve(length: number, response: Response): Promise<(values: number) => void> {
    let reserved = 2 * length + VALUE_BYTES * Math.min(length / 2, MAX_VALUES);
    if (length <= SMALL_BODY_BYTES || (this.waiting.length === 0 && this.hasRoom(reserved))) this.held += reserved;
    else await this.wait(reserved, response);
    const lower = (to: number) => {
      if (to >= reserved) return;
      this.held -= reserved - to;
      reserved = to;
      this.beginNext();
    };
    if (response.closed) lower(0);
    else response.once('close', () => lower(0));
    return (values) => lower(length + VALUE_BYTES * values);
  }

  private hasRoom(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= this.maxBytes;
  }

  private wait(bytes: number, response: Response): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        leave();
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
        this.beginNext();
        const seconds = Math.max(1, Math.ceil(this.waitMs / 1000));
        const message = `Too many large bodies at once: try again in ${seconds} s.`;
        reject(new HttpRefusal('busy', message, { 'Retry-After': String(seconds) }));
      };
      const timer = setTimeout(giveUp, this.waitMs);
      const leave = () => {
        clearTimeout(timer);
        response.off('close', giveUp);
      };
      const begin = () => {
        leave();
        resolve();
      };
      const waiting = { bytes, begin };
      this.waiting.push(waiting);
      response.once('close', giveUp);
    });
  }

  private beginNext(): void {
    for (let next = this.waiting[0]; next && this.hasRoom(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.held += next.bytes;
      next.begin();
    }
  }
}
