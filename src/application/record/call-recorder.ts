import { injectable } from 'inversify';
import type { Job } from '../../domain/jobs/job.js';
import { type CallContent, maskablePart } from '../../domain/record/call-content.js';
import { callLimits, KeptPart } from '../../domain/record/kept-part.js';
import { withoutOpenEnds } from '../../domain/record/open-end.js';
import type { Recording } from '../../domain/record/recording.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Chance, type Logger } from '../shared/ports.js';
import { Masker } from './ports.js';

/** A call that its project may keep. */
export interface Recordable {
  readonly recording: Recording;
  /** Returns the id in the answer that the caller gets. Null: it has none. */
  answerId(): string | null;
  /** Returns what the call has so far. */
  content(): CallContent;
}

/** Keeps calls as their projects want. Masks what they want masked before anything is stored. */
@injectable()
export class CallRecorder {
  constructor(
    private readonly masker: Masker,
    private readonly chance: Chance,
  ) {}

  /**
   * Returns what is kept of a finished call, or null if nothing is. Never throws: a content that cannot be masked is left
   * out.
   */
  async prepare(job: Job, recordable: Recordable, log: Logger): Promise<KeptPart | null> {
    const { recording } = recordable;
    if (job.teamId === null || job.projectId === null) return null;
    if (recording.share < 1 && this.chance.draw() >= recording.share) return null;
    const about = { recording, answerId: recordable.answerId(), arrivedAt: job.createdAt };
    if (recording.content === 'none') return KeptPart.of({ ...about, content: 'none', masked: null });
    try {
      const masked = await this.masked(recordable.content(), recording, job.teamId);
      return KeptPart.of({ ...about, content: 'full', masked });
    } catch (error) {
      log.warn('the content of a call is not kept, because it could not be masked', { error });
      return KeptPart.of({ ...about, content: 'unmaskable', masked: null });
    }
  }

  private async masked(content: CallContent, { mask }: Recording, owner: string): Promise<CallContent> {
    if (mask.length === 0) return content;
    const end = content.answer && withoutOpenEnds(content.answer, content.isCut);
    const sides = [content.request, end].map((side) => maskablePart(side, callLimits.sideMasked));
    const whole = sides.map(({ value }) => value);
    const [request, answer] = (await this.masker.maskJson(whole, mask, { owner })) as [JsonObject, JsonObject | null];
    return { request, answer, isCut: content.isCut || sides.some(({ isCut }) => isCut) };
  }
}
