import { type Finding, InvalidRequest } from '../shared/errors.js';
import { atMost, utf8Bytes } from '../shared/text.js';
import type { Json } from '../workspace/json.js';

/** The opinion of an account on a call. Of several opinions of an account, the last one counts. */
export interface Feedback {
  readonly id: string;
  readonly callId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly keyId: string | null;
  /** From -1 to 1. */
  readonly score: number | null;
  readonly label: string | null;
  readonly comment: string | null;
  /** The answer that the call should have had. */
  readonly correction: Json;
  readonly createdAt: Date;
  /** False: the account has said something else since. */
  readonly isCurrent: boolean;
}

/** The parts of a feedback that the account writes. Null: nothing. */
export type FeedbackInput = Pick<Feedback, 'score' | 'label' | 'comment' | 'correction'>;

/**
 * Lengths are in characters. `each` and `eachBytes` limit the history of one account on one call, `listed` and
 * `listedBytes` what a list shows of the feedback on one call.
 */
export const feedbackLimits = {
  label: 64,
  comment: 4_000,
  correctionBytes: 64 * 1024,
  each: 100,
  eachBytes: 256 * 1024,
  listed: 100,
  listedBytes: 256 * 1024,
} as const;

/** The stored feedback of one account on one call. */
export interface FeedbackHistory {
  readonly count: number;
  /** The length of all texts and corrections. */
  readonly bytes: number;
}

export const Feedback = {
  /** Returns the input without white space around the label. Throws InvalidRequest. */
  checked(sent: FeedbackInput): FeedbackInput {
    const input = { ...sent, label: sent.label?.trim() ?? null };
    const { score, label, comment, correction } = input;
    const { label: mostLabel, comment: mostComment, correctionBytes } = feedbackLimits;
    const isLabel = label === null || (label !== '' && atMost(label, mostLabel));
    const wrong: Record<string, string | false> = {
      '': isEmpty(input) && 'must have a score, a label, a comment or a correction',
      score: score !== null && !(score >= -1 && score <= 1) && 'must be a number from -1 to 1',
      label: !isLabel && `must have 1 to ${mostLabel} characters`,
      comment: comment !== null && !atMost(comment, mostComment) && `must have at most ${mostComment} characters`,
      correction: jsonBytes(correction) > correctionBytes && `must have at most ${correctionBytes / 1024} KB as JSON`,
    };
    const findings = Object.entries(wrong).flatMap(([path, message]): Finding[] =>
      message === false ? [] : [{ path, message }],
    );
    if (findings.length > 0) throw new InvalidRequest(findings);
    return input;
  },

  /** Throws InvalidRequest if the account has no room for one more feedback on the call. */
  requireRoom({ count, bytes }: FeedbackHistory, input: FeedbackInput): void {
    const { each, eachBytes } = feedbackLimits;
    if (count < each && bytes + Feedback.bytes(input) <= eachBytes) return;
    const message = `is too much: an account may give feedback on a call ${each} times, with ${eachBytes / 1024} KB together`;
    throw new InvalidRequest([{ path: '', message }]);
  },

  bytes: ({ label, comment, correction }: FeedbackInput): number =>
    [label, comment, correction].reduce<number>((sum, part) => sum + (part === null ? 0 : jsonBytes(part)), 0),
};

const isEmpty = (input: FeedbackInput): boolean =>
  [input.score, input.label, input.comment, input.correction].every((part) => part === null);

const jsonBytes = (value: Json): number => utf8Bytes(JSON.stringify(value));
