import { injectable } from 'inversify';
import { type CallOwner, RecordedCallRepository } from './ports.js';

/** Limits the calls of one statement, so that no statement takes long. */
const AT_ONCE = 1_000;

/** Deletes all calls of a project or an account before the owner itself is deleted. */
@injectable()
export class CallRemoval {
  constructor(private readonly calls: RecordedCallRepository) {}

  async of(owner: CallOwner): Promise<void> {
    while ((await this.calls.removeSome(owner, AT_ONCE)) === AT_ONCE);
  }
}
