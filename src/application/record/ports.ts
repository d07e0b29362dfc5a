import type { FinalStatus } from '../../domain/jobs/job.js';
import type { Feedback, FeedbackHistory } from '../../domain/record/feedback.js';
import type { KeptCall } from '../../domain/record/kept-call.js';
import type { Mask } from '../../domain/record/recording.js';
import type { Json } from '../../domain/workspace/json.js';
import type { Page, SizedItem } from '../shared/ports.js';

/**
 * The most characters of content that is masked. Texts and keys count with their lengths, numbers with the length in which
 * they are written, and each other value counts as one.
 */
export const mostMaskedCharacters = 1_048_576;

export interface MaskingCaller {
  /** The team whose content it is. Teams share what may wait, and take turns. */
  readonly owner: string;
}

/**
 * Replaces personal data and secrets in content before it is stored: a find of the kind `email` becomes `[email]`, a
 * find of an own pattern `[<name>]`. The text around the finds stays as it is.
 *
 * - Finds that overlap become one. It gets the label of the find that begins first, or of the longest of these.
 * - A find may be written with the escapes of JSON, such as `\u0040`, with percent-encoding, or with other forms of a
 *   character in Unicode. Invisible characters within a find do not hide it.
 * - A text that is JSON stays JSON. Each of its strings, keys and numbers is masked by itself.
 * - With the kind `secret`, a value under a key such as `password` is masked whole. If it is an object or a list, each text
 *   and number within is, except under keys with which a JSON schema tells about a value, such as `type`. So is `value`
 *   beside a `name` or `key` such as `password`.
 * - The content must be complete: a find that was cut into two texts cannot be found.
 * - The time grows linearly with the length of the content. All own patterns together take at most 10 ms of the processor
 *   for one call.
 * - Other calls of the service go on meanwhile.
 *
 * Both methods throw MaskingFailed if the content is not masked completely: it is longer than `mostMaskedCharacters`, the
 * masking takes too long, or too much other content waits, of its owner or in all. The caller must not store the content then.
 */
export abstract class Masker {
  /** Returns why a linear-time engine cannot run an own pattern, or null if it can. */
  abstract problem(pattern: string): string | null;
  /** Returns the masked text. */
  abstract mask(text: string, masks: readonly Mask[], by?: MaskingCaller): Promise<string>;
  /**
   * Returns a value of which all strings, numbers and keys are masked. Keys that become equal get a number, such as
   * `[email] 2`.
   */
  abstract maskJson<T extends Json>(value: T, masks: readonly Mask[], by?: MaskingCaller): Promise<T>;
}

/** Selects calls of a project. A null field selects all. */
export interface CallFilter {
  readonly projectId: string;
  /** Only calls that arrived then or later. */
  readonly since: Date | null;
  /** Only calls that arrived earlier. */
  readonly until: Date | null;
  readonly modelId: string | null;
  readonly keyId: string | null;
  readonly accountId: string | null;
  readonly status: FinalStatus | null;
  /** Only calls with a current feedback that has exactly this score. */
  readonly score: number | null;
  /** Only calls with a current feedback that has this label. */
  readonly label: string | null;
  /** Only calls with all these words in the beginning of their content, in upper or lower case. */
  readonly q: string | null;
}

/** A call without its content. */
export interface LocatedCall extends Pick<KeptCall, 'id' | 'projectId' | 'accountId'> {
  /** The length of its content. */
  readonly bytes: number;
}

/** Names a call within what a caller may see or name. */
export interface NamedCall {
  readonly teamId: string;
  /** The id of the call, or the id of its answer, or of an item of its answer. */
  readonly id: string;
  /** Only calls of these projects. Null: of all. */
  readonly projectIds: readonly string[] | null;
  /** Only calls of this account. Null: of all. */
  readonly accountId: string | null;
}

export type CallOwner = { readonly projectId: string } | { readonly accountId: string };

/**
 * Finds the calls that projects keep. `JobHistory` stores them with the ends of the calls, unless their project or their
 * account is gone. Calls after their `expiresAt` and calls of deleted projects and accounts are not found any more. Who
 * deletes a project or an account must have its calls deleted, with `CallRemoval`.
 */
export abstract class KeptCallRepository {
  /** Returns the newest of the calls with this name: an engine elsewhere may give many answers the same id. */
  abstract find(wanted: NamedCall): Promise<KeptCall | null>;
  /** Finds the same call as `find`, without its content. */
  abstract locate(wanted: NamedCall): Promise<LocatedCall | null>;
  /**
   * Returns the calls of a project with these ids, and for each of the ids the newest call that has it in its answer. In any
   * order.
   */
  abstract some(projectId: string, ids: readonly string[]): Promise<KeptCall[]>;
  /**
   * Lists the places of calls in the order of their arrival, the newest first, with the sizes of their contents. Calls that
   * arrived at the same time are in the order of their ids. Each id, also `after`, is the text of a CallPlace. The call of
   * `after` may be gone.
   */
  abstract sizes(filter: CallFilter, page: Page): Promise<SizedItem[]>;
  /** Returns these calls, the newest first. Leaves out those that are gone. */
  abstract read(ids: readonly string[]): Promise<KeptCall[]>;
  /** Deletes a call with its feedback. Returns false if it was not there. */
  abstract remove(id: string): Promise<boolean>;
  /**
   * Deletes calls of a project or of an account with their feedback, at most `most` of them, and returns their number.
   */
  abstract removeSome(owner: CallOwner, most: number): Promise<number>;
  /**
   * Deletes calls that expired before `now`, at most `most` of them, and returns their number. Concurrent calls do not
   * wait for each other.
   */
  abstract forget(now: Date, most: number): Promise<number>;
}

/** Stores what accounts say about calls. It is deleted with the call and with the account. */
export abstract class FeedbackRepository {
  /** Stores a feedback, which replaces the current one of the same account and call. Throws NotFound if the call is gone. */
  abstract add(feedback: Feedback): Promise<void>;
  /** Returns all feedback on these calls with its history, the newest first. */
  abstract ofCalls(callIds: readonly string[]): Promise<Feedback[]>;
  /** Returns the most memory that the JSON of all feedback on a call takes, in bytes. */
  abstract bytesOf(callId: string): Promise<number>;
  /**
   * Returns for each of these calls the newest feedback that counts, the newest first, within
   * `feedbackLimits.listed` and `feedbackLimits.listedBytes`.
   */
  abstract current(callIds: readonly string[]): Promise<Feedback[]>;
  /** Measures for each of these calls the feedback that `current` returns, as `bytesOf` does. Omits calls without one. */
  abstract sizesOfCurrent(callIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Measures what an account has said about a call so far. */
  abstract history(callId: string, accountId: string): Promise<FeedbackHistory>;
  /** Returns for each of these calls the newest correction that counts, of any account. Omits calls without one. */
  abstract corrections(callIds: readonly string[]): Promise<ReadonlyMap<string, Json>>;
}
