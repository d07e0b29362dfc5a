import { Masker, type MaskingCaller, mostMaskedCharacters } from '../../application/record/ports.js';
import { MaskingFailed } from '../../domain/record/errors.js';
import type { Mask } from '../../domain/record/recording.js';
import { isObject, type Json } from '../../domain/workspace/json.js';
import { ContentMasking, isKind } from './content-masking.js';
import { MaskingLane } from './masking-lane.js';
import { OwnPatterns } from './own-patterns.js';

/** Content of at most so many characters is masked at once. Hostile content of this length takes a few milliseconds. */
const MOST_AT_ONCE = 16_384;

/** Masks short content at once. Masks long content, and all content with own patterns, in a thread. */
export class Re2Masker extends Masker {
  private readonly masking = new ContentMasking();
  private readonly patterns = new OwnPatterns();
  private readonly lane: MaskingLane;

  /** `program` is the path of the compiled `masking-thread`. */
  constructor(program: string) {
    super();
    this.lane = new MaskingLane(program);
  }

  problem(pattern: string): string | null {
    return this.patterns.problem(pattern);
  }

  mask(text: string, masks: readonly Mask[], by?: MaskingCaller): Promise<string> {
    return this.maskJson<string>(text, masks, by);
  }

  async maskJson<T extends Json>(value: T, masks: readonly Mask[], by?: MaskingCaller): Promise<T> {
    const length = lengthOf(value);
    if (length > mostMaskedCharacters) throw new MaskingFailed('it is too long');
    if (length <= MOST_AT_ONCE && masks.every(isKind)) return this.masking.mask(value, masks) as T;
    try {
      return (await this.lane.mask(value, masks, { length, owner: by?.owner ?? '' })) as T;
    } catch (error) {
      throw error instanceof MaskingFailed ? error : new MaskingFailed('the masker has failed');
    }
  }

  /** Ends the thread. Long content and content with own patterns cannot be masked any more. */
  close(): Promise<void> {
    return this.lane.close();
  }
}

/** Returns the number of characters, or a number above the limit if there are more. */
function lengthOf(value: Json): number {
  let length = 0;
  const open: (Json | undefined)[] = [value];
  while (open.length > 0 && length <= mostMaskedCharacters) {
    const next = open.pop();
    length += typeof next === 'string' || typeof next === 'number' ? String(next).length : 1;
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next))
      for (const [key, member] of Object.entries(next)) {
        length += key.length;
        open.push(member);
      }
  }
  return length;
}
