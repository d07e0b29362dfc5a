import { DomainError } from '../shared/errors.js';

/** The content could not be masked, so it must not be stored. The reason never repeats the content. */
export class MaskingFailed extends DomainError {
  constructor(readonly reason: string) {
    super('unavailable', 'masking_failed', `The content cannot be masked: ${reason}.`);
  }
}
