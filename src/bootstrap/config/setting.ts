import type { z } from 'zod';

/** One setting: what it is for, the text it has when nobody sets it, and how its text is read. */
export interface Setting<T = unknown> {
  readonly about: string;
  /** Null: absent unless set; `shown` then says what that means. */
  readonly fallback: string | null;
  readonly shown?: string;
  /** Its value is never repeated in a message. */
  readonly secret?: true;
  readonly read: z.ZodType<T, string>;
}

export const setting = <T>(one: Setting<T>) => one;
