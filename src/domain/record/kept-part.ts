import { storable, utf8Bytes } from '../shared/text.js';
import { type CallContent, cutJson, searchText } from './call-content.js';
import type { KeptCall } from './kept-call.js';
import type { Recording } from './recording.js';

/** The part of a kept call that its job does not have. */
export interface KeptPart extends Pick<KeptCall, 'answerId' | 'content' | 'truncated' | 'expiresAt'> {
  /** JSON. Null: the content is not kept. */
  readonly request: string | null;
  /** JSON. Null: the content is not kept, or the call has no answer. */
  readonly answer: string | null;
  /** The length of the request and the answer in UTF-8. */
  readonly bytes: number;
  /** The text that a search finds. Null: none. */
  readonly searched: string | null;
}

/** The facts that a kept part is made of. */
interface CallParts extends Pick<KeptPart, 'answerId' | 'content'> {
  readonly recording: Recording;
  readonly arrivedAt: Date;
  /** The masked content. Null: it is not kept. */
  readonly masked: CallContent | null;
}

export const callLimits = {
  /** The most bytes of a request and of an answer, each as JSON. */
  sideBytes: 256 * 1024,
  /** The most characters of one side that are masked. The rest of a side is left out. */
  sideMasked: 300_000,
} as const;

const DAY_MS = 24 * 60 * 60 * 1000;

export const KeptPart = {
  /** Cuts long content. */
  of({ answerId, content, recording, arrivedAt, masked }: CallParts): KeptPart {
    const expiresAt = new Date(arrivedAt.getTime() + recording.days * DAY_MS);
    const about = { answerId, content, expiresAt };
    if (!masked) return { ...about, ...NO_CONTENT };
    const [request, answer] = [masked.request, masked.answer].map((side) =>
      side === null ? null : cutJson(side, callLimits.sideBytes),
    );
    const texts = [request?.text ?? null, answer?.text ?? null] as const;
    return {
      ...about,
      ...{ request: texts[0], answer: texts[1] },
      truncated: Boolean(masked.isCut || request?.isCut || answer?.isCut),
      bytes: utf8Bytes(texts[0] ?? '') + utf8Bytes(texts[1] ?? ''),
      searched: storable(searchText(masked.request, masked.answer)).toLowerCase(),
    };
  },

  /** Leaves out the content, for which there is no room. */
  withoutContent: (call: KeptPart): KeptPart => ({ ...call, ...NO_CONTENT, content: 'none' }),
};

const NO_CONTENT = { request: null, answer: null, truncated: false, bytes: 0, searched: null } as const;
