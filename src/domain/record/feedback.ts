import type { Json } from '../workspace/json.js';

/** What an account says about a call. An account has one feedback on a call: the last one counts. */
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
