/** Ends calls whose caller loses the permission while they run. */
import { AsyncResource } from 'node:async_hooks';
import { injectable } from 'inversify';
import { type Act, Authority } from '../../../application/accounts/authority.js';
import { Logger } from '../../../application/shared/ports.js';

/** The time between two checks. A call that ends within this time costs no statement. */
const PAUSE_MS = 1_000;

interface RunningCall extends Act {
  readonly end: AbortController;
  /** True if the call has run for `PAUSE_MS`. */
  isLong: boolean;
}

/**
 * Checks the permissions of all running calls of this instance once a second, with one statement. So a revocation on
 * any instance ends the calls, too. A failure of this check ends no call.
 */
@injectable()
export class CallWatch {
  /** The oldest call comes first. */
  private readonly calls = new Set<RunningCall>();
  private isChecking = false;
  private isFailing = false;
  /** The checks must not keep the request that begins them, or name it in log lines. */
  private readonly outsideRequests = new AsyncResource('CallWatch');

  constructor(
    private readonly authority: Authority,
    private readonly log: Logger,
  ) {}

  /** Aborts `end` with the reason if the caller loses the permission. Returns a function that ends the watch. */
  begin(act: Act, end: AbortController): () => void {
    const call: RunningCall = { ...act, end, isLong: false };
    this.calls.add(call);
    const timer = setTimeout(() => {
      call.isLong = true;
      if (!this.isChecking) this.outsideRequests.runInAsyncScope(() => void this.checkRepeatedly());
    }, PAUSE_MS).unref();
    return () => {
      clearTimeout(timer);
      this.calls.delete(call);
    };
  }

  /** Checks as long as there is a long call. */
  private async checkRepeatedly(): Promise<void> {
    this.isChecking = true;
    await this.check();
    const next = () => {
      const [oldest] = this.calls;
      if (oldest?.isLong) void this.checkRepeatedly();
      else this.isChecking = false;
    };
    setTimeout(next, PAUSE_MS).unref();
  }

  /** Also checks calls that are not long yet. Otherwise they could go on for almost twice the pause. */
  private async check(): Promise<void> {
    try {
      for (const { act, reason } of await this.authority.lost([...this.calls])) {
        this.calls.delete(act);
        act.end.abort(reason);
      }
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.log.warn('the permissions of running calls could not be checked', { error });
      this.isFailing = true;
    }
  }
}
