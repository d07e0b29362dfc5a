import type { KeptCall } from './kept-call.js';

/** The place of a call in the list of a project's calls, also after the call is deleted. */
export interface CallPlace {
  readonly createdAt: Date;
  readonly id: string;
}

export const CallPlace = {
  /** Matches the text of a place: milliseconds since the epoch, and the id of the call. */
  text: /^(\d{1,14})\.(job_[0-9a-f-]{36})$/,

  textOf: ({ createdAt, id }: Pick<KeptCall, 'createdAt' | 'id'>): string => `${createdAt.getTime()}.${id}`,

  /** Returns the place that `textOf` has written. */
  of(text: string): CallPlace {
    const [, milliseconds, id] = CallPlace.text.exec(text) ?? [];
    if (milliseconds === undefined || id === undefined) throw new Error('This is not the place of a call.');
    return { createdAt: new Date(Number(milliseconds)), id };
  },
} as const;
