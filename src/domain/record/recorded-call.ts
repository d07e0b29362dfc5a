import type { CallKind, CallRecord, FinalStatus, FinishedJob, Job } from '../jobs/job.js';
import type { JsonObject } from '../workspace/json.js';
import { type CallContent, cut, searchText } from './call-content.js';
import type { Recording } from './recording.js';

/** `unmaskable`: the content could not be masked, so it is not stored. */
export const keptContents = ['full', 'none', 'unmaskable'] as const;
type KeptContent = (typeof keptContents)[number];

/** A finished call that its project keeps. */
export interface RecordedCall {
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
  readonly usage: CallRecord | null;
  readonly cost: string | null;
  readonly content: KeptContent;
  /** Null: the content is not kept. */
  readonly request: JsonObject | null;
  /** Null: the content is not kept, or the call has no answer. */
  readonly answer: JsonObject | null;
  /** True: only a beginning is kept, because a side was too long, or because an answer that is masked ended early. */
  readonly truncated: boolean;
  readonly expiresAt: Date;
}

/** The parts of a call that its job does not have. */
export interface CallParts extends Pick<RecordedCall, 'answerId' | 'content'> {
  readonly recording: Recording;
  /** The masked content. Null: it is not kept. */
  readonly masked: CallContent | null;
}

export const callLimits = {
  /** The most bytes of a request and of an answer, each as JSON. */
  sideBytes: 256 * 1024,
  /** The most characters of one side that are masked. Longer texts of a side are left out. */
  sideMasked: 500_000,
} as const;

/** Ids of calls and of answers. An engine elsewhere may have made an id of its own form. */
const ID = /^[\w.-]{1,130}$/;
/** The id of an item in an answer of the Responses API, which contains the id of the response. */
const ITEM_ID = /^(?:msg|rs|fc)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,6}$/;

const DAY_MS = 24 * 60 * 60 * 1000;

export const RecordedCall = {
  /** Creates the record of a finished call. Cuts long content. */
  of(job: Job & FinishedJob & { readonly teamId: string; readonly projectId: string }, parts: CallParts): RecordedCall {
    const { id, teamId, projectId, requestedBy, modelId, status, createdAt, startedAt, finishedAt, usage, cost } = job;
    const { answerId, recording, masked, content } = parts;
    const request = masked && cut(masked.request, callLimits.sideBytes);
    const answer = masked?.answer ? cut(masked.answer, callLimits.sideBytes) : null;
    return {
      ...{ id, answerId, teamId, projectId, accountId: requestedBy, keyId: usage?.keyId ?? null, modelId },
      ...{ kind: job.kind as CallKind, status, createdAt, startedAt, finishedAt, usage, cost, content },
      request: request?.value ?? null,
      answer: answer?.value ?? null,
      truncated: Boolean(masked?.isCut || request?.isCut || answer?.isCut),
      expiresAt: new Date(createdAt.getTime() + recording.days * DAY_MS),
    };
  },

  /**
   * Returns the id by which to find the call that a caller names: by the id of its job, by the id in its answer, or by the
   * id of an item of a response. Returns null for a text that is no id.
   */
  idOf(text: string): string | null {
    const [, response] = ITEM_ID.exec(text) ?? [];
    if (response) return `resp_${response}`;
    return ID.test(text) ? text : null;
  },

  /** Returns the text that a search finds. */
  searchText: ({ request, answer }: Pick<RecordedCall, 'request' | 'answer'>): string => searchText(request, answer),
};
