import type { CallKind, FinalStatus, JobUsage } from '../jobs/job.js';
import type { JsonObject } from '../workspace/json.js';

/** `unmaskable`: the content could not be masked, so it is not stored. */
export const keptContents = ['full', 'none', 'unmaskable'] as const;
type KeptContent = (typeof keptContents)[number];

/** A finished call that its project keeps: figures of its job, and the KeptPart. */
export interface KeptCall {
  /** The id of its job. */
  readonly id: string;
  /** The id in the answer that the caller got, such as `chatcmpl-…`. Null: it has none. */
  readonly answerId: string | null;
  readonly teamId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly modelId: string | null;
  readonly kind: CallKind;
  readonly status: FinalStatus;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly usage: JobUsage | null;
  readonly cost: string | null;
  readonly content: KeptContent;
  /** The masked request. Null: the content is not kept. */
  readonly request: JsonObject | null;
  /** The masked answer. Null: the content is not kept, or the call has no answer. */
  readonly answer: JsonObject | null;
  /** True: the request or the answer was too long, so only its beginning is kept. */
  readonly truncated: boolean;
  readonly expiresAt: Date;
}

/** The id of an item in an answer of the Responses API, which contains the id of the response. */
const ITEM_ID = /^(?:msg|rs|fc)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,6}$/;

export const KeptCall = {
  /** Matches the names of calls: the ids of jobs and of answers. An engine elsewhere may have made an id of its own form. */
  NAME: /^[\w.-]{1,130}$/,

  /**
   * Returns the id to search for if a caller names a call: the id of its job, the id in its answer, or the id of the
   * response of an item. Returns null for a text that is no id.
   */
  idOf(text: string): string | null {
    const [, response] = ITEM_ID.exec(text) ?? [];
    if (response) return `resp_${response}`;
    return KeptCall.NAME.test(text) ? text : null;
  },
};
