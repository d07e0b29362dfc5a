/** The program of the thread that masks long content, and all content of projects with own patterns. */
import { parentPort } from 'node:worker_threads';
import { MaskingFailed } from '../../domain/record/errors.js';
import { type Mask, maskKinds } from '../../domain/record/recording.js';
import { ContentMasking } from './content-masking.js';

export interface MaskingOrder {
  /** The content as JSON. */
  readonly content: string;
  readonly masks: readonly Mask[];
}

/** `content` is the masked content as JSON. It is null if the masking failed, for the reason in `problem`. */
export type MaskingResult =
  | { readonly content: string; readonly problem: null }
  | { readonly content: null; readonly problem: string };

const masking = new ContentMasking();

function result({ content, masks }: MaskingOrder): MaskingResult {
  try {
    return { content: JSON.stringify(masking.mask(JSON.parse(content), masks)), problem: null };
  } catch (error) {
    return { content: null, problem: error instanceof MaskingFailed ? error.reason : 'the masker has failed' };
  }
}

/** Lets Node.js optimize the engine of own patterns, which has little time for its first content. */
function warmUp(): void {
  const masks: Mask[] = [
    ...maskKinds,
    { name: 'warm', pattern: '(?i)\\bkd-\\d{6}\\b' },
    { name: 'up', pattern: 'KD-\\d+' },
  ];
  const text = 'The customer KD-123456 has écrit to ada@example.com on 2026-11-28. '.repeat(15);
  for (let run = 0; run < 30; run++) result({ content: JSON.stringify(text), masks });
}

warmUp();
parentPort?.on('message', (order: MaskingOrder) => parentPort?.postMessage(result(order)));
