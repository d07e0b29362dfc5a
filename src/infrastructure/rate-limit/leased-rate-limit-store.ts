import {
  type Quota,
  type RateLimit,
  type RateLimitKey,
  RateLimitStore,
  type RateLimitVerdict,
} from '../../application/operations/ports.js';
import type { Logger } from '../../application/shared/ports.js';
import { Batches } from '../system/batches.js';
import { Repeating, resultWithin, steadyMs } from '../system/scheduling.js';
import { type LeasedShare, RESERVED_MS } from './leased-share.js';
import { Caller, type Group, grouped, type Part, type Question } from './ledger-questions.js';
import type { LedgerAnswer, LedgerAsk, RateLimitLedger } from './rate-limit-ledger.js';
import { RecentKeys } from './recent-keys.js';

/** The most keys of each kind. A key with few calls takes about 1 KB. */
const MAX_KEYS = 50_000;
/** The pause between two reports to the ledger, and between two attempts to reach it. */
const PAUSE_MS = 1_000;
const INSTANCES_PAUSE_MS = 5_000;
/** Renewals of leases that are missing or nearly used up collect for this time, because one statement for many of them is cheap. */
const COLLECTED_MS = 20;
const AT_ONCE = 64;

interface Dependencies {
  readonly ledger: RateLimitLedger;
  readonly logger: Logger;
  /** The longest wait for an answer of the ledger. */
  readonly patienceMs: number;
  /** Returns milliseconds that never go back. */
  readonly now?: () => number;
}

/**
 * Counts the calls of all instances in a ledger.
 *
 * - Far from its limit, a caller uses a lease: calls that the ledger has reserved for this instance. Such a call waits
 *   for no statement. The lease is renewed in the background.
 * - Near its limit, a call is admitted only after the ledger has counted it. Limits below 40 have no leases.
 * - One statement counts the calls of many callers. While it runs, later calls collect for the next statement.
 * - Before an instance has a lease, it admits calls of which the ledger does not know: at most 1 % of the limit. So three
 *   instances exceed a limit of 100 or more by at most 3 %. More than five instances together exceed it by at most 5 %.
 *   Limits below 100 are never exceeded.
 * - All leases together are at most 5 % of a limit. So a caller may be refused while 5 % of its limit are left.
 * - The leases of a dead instance end after a few seconds. The calls that it has not told are forgotten, at most 5 % of
 *   the limit.
 * - While the ledger is out of reach, each instance counts its own calls within the last minute. It tells them later.
 */
export class LeasedRateLimitStore extends RateLimitStore {
  private readonly callers: RecentKeys<Caller>;
  private readonly questions = new Batches(
    async (asked: readonly (readonly Question[])[]) => {
      const verdicts = [...(await this.answers(asked.flat()))];
      return asked.map(({ length }) => verdicts.splice(0, length));
    },
    { most: AT_ONCE, weightOf: ({ length }) => length },
  );
  /** The callers that wait for the next renewals. */
  private readonly renewals = new Map<Caller, readonly Part[]>();
  private timer: NodeJS.Timeout | null = null;
  private readonly ledger: RateLimitLedger;
  private readonly logger: Logger;
  private readonly patienceMs: number;
  private readonly now: () => number;
  private readonly telling = new Repeating(
    () => this.tell(),
    PAUSE_MS,
    (error) => this.logger.error('calls not told for the rate limits', { error }),
  );
  /** The callers with calls that the ledger does not know. */
  private readonly untold = new Set<Caller>();
  private readonly counting = new Repeating(() => this.countInstances(), INSTANCES_PAUSE_MS, keepLast);
  /** The number of instances. Until it is known, no call is made before the ledger is asked. */
  private instances = Number.POSITIVE_INFINITY;
  /** The begin of the outage. */
  private aloneSince: number | null = null;

  constructor({ ledger, logger, patienceMs, now = steadyMs }: Dependencies) {
    super();
    [this.ledger, this.logger, this.patienceMs, this.now] = [ledger, logger, patienceMs, now];
    this.callers = new RecentKeys(MAX_KEYS, (key) => new Caller(ledger.keyOf(key)));
  }

  async take(key: RateLimitKey, limits: readonly RateLimit[], calls: 0 | 1): Promise<RateLimitVerdict> {
    const caller = this.callers.of(key, this.now());
    const parts = caller.parts(limits);
    for (let waits = 0; ; waits++) {
      const verdict = this.known(caller, parts, calls);
      if (verdict) return verdict;
      if (!caller.renewing || waits > 0) break;
      await caller.renewing;
    }
    this.sendRenewals(); // the statement takes them along
    const [verdict] = await this.questions.add('all', [{ caller, parts, calls, wants: calls > 0, isReport: false }]);
    return verdict as RateLimitVerdict;
  }

  override async reached(key: RateLimitKey, limits: readonly RateLimit[]): Promise<readonly Quota[] | null> {
    const now = this.now();
    const caller = this.callers.of(key, now);
    const parts = caller.parts(limits);
    if (this.aloneSince !== null) {
      return parts.some(({ share, limit }) => share.ownRoom(limit, now) <= 0) ? ownQuotas(parts, now) : null;
    }
    return parts.some(({ share, limit }) => share.isRefused(limit, now)) ? quotas(parts, now) : null;
  }

  /** Tells the ledger of calls every second, and counts the instances every five seconds. */
  start(): void {
    this.telling.start();
    this.counting.start();
  }

  /** Ends the reports. Tells the ledger of the last calls, but waits for at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.telling.stop(graceMs), this.counting.stop(graceMs)]);
    if (this.aloneSince === null) await resultWithin(this.tell('all'), graceMs);
  }

  get size(): number {
    return this.callers.size;
  }

  /** The number of callers of whose calls the ledger may not know. */
  get untoldSize(): number {
    return this.untold.size;
  }

  async countInstances(): Promise<void> {
    this.instances = Math.max(1, await this.ledger.instances());
  }

  /** Decides without the ledger, or returns null. */
  private known(caller: Caller, parts: readonly Part[], calls: 0 | 1): RateLimitVerdict | null {
    const now = this.now();
    if (this.aloneSince !== null) return this.alone({ caller, parts, calls }, now);
    if (calls === 0) {
      const isFresh = parts.every(({ share, limit }) => share.isFresh(limit, now));
      return isFresh ? { admitted: true, quotas: quotas(parts, now) } : null;
    }
    if (
      parts.every(({ share, limit }) => share.hasLease(limit, now) || share.mayGoUnasked(limit, this.instances, now))
    ) {
      for (const { share, limit } of parts) share.use(limit, now);
      this.toTell(caller);
      if (parts.some(({ share }) => share.isLow(now) || share.isOld(now))) this.renew(caller, parts);
      return { admitted: true, quotas: quotas(parts, now) };
    }
    const isRefused = parts.some(({ share, limit }) => share.isRefused(limit, now));
    return isRefused ? { admitted: false, quotas: quotas(parts, now) } : null;
  }

  /** Decides by the calls of this instance. */
  private alone({ caller, parts, calls }: Pick<Question, 'caller' | 'parts' | 'calls'>, now: number): RateLimitVerdict {
    const admitted = parts.every(({ share, limit }) => share.ownRoom(limit, now) >= calls);
    if (admitted && calls > 0) {
      for (const { share } of parts) share.useAlone(now);
      this.toTell(caller);
    }
    return { admitted, quotas: ownQuotas(parts, now) };
  }

  /** Renews the leases soon. If they are only old, waits for other renewals or for the next report. */
  private renew(caller: Caller, parts: readonly Part[]): void {
    if (caller.renewing) return;
    this.renewals.set(caller, parts);
    if (!parts.some(({ share }) => share.isLow(this.now()))) return;
    this.timer ??= setTimeout(() => this.sendRenewals(), COLLECTED_MS).unref();
  }

  private sendRenewals(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const renewals = [...this.renewals].map(([caller, parts]): Question => {
      return { caller, parts, calls: 0, wants: true, isReport: false };
    });
    this.renewals.clear();
    for (let at = 0; at < renewals.length; at += AT_ONCE) {
      const sent = renewals.slice(at, at + AT_ONCE);
      const renewed = this.questions.add('all', sent).catch((error: unknown) => this.countAlone(error));
      const renewing = renewed.finally(() => {
        for (const { caller } of sent) caller.renewing = null;
      });
      for (const { caller } of sent) caller.renewing = renewing;
    }
  }

  /** Answers questions with one statement. Never throws. */
  private async answers(questions: readonly Question[]): Promise<readonly RateLimitVerdict[]> {
    if (this.aloneSince !== null && !questions.some(({ isReport }) => isReport)) {
      return questions.map((question) => this.alone(question, this.now()));
    }
    const sentAt = this.now();
    const groups = grouped(questions);
    const asked = new Set<LeasedShare>();
    const asks = groups.map(({ caller, parts, waiting, wants }): LedgerAsk => {
      const calls = waiting.length;
      const limits = parts.map(({ share, limit }) => {
        const isFirst = !asked.has(share);
        asked.add(share);
        return share.ask(limit, { calls, wants, isFirst }, sentAt);
      });
      return { key: caller.key, calls, limits };
    });
    const isIdle = asks.length === 0 && this.aloneSince === null;
    const answer = isIdle ? [] : await this.answer(asks);
    const now = this.now();
    if (!answer) {
      for (const share of asked) share.unanswered();
      for (const { caller } of groups) this.toTell(caller);
      return questions.map((question) => this.alone(question, now));
    }
    const verdicts = new Map<Question, RateLimitVerdict>();
    for (const [nth, group] of groups.entries()) settle(group, asks[nth] as LedgerAsk, answer[nth] as LedgerAnswer);
    return questions.map(
      (question) => verdicts.get(question) ?? { admitted: true, quotas: quotas(question.parts, now) },
    );

    function settle({ parts, waiting }: Group, ask: LedgerAsk, { admitted, limits }: LedgerAnswer): void {
      for (const [at, { share, limit }] of parts.entries())
        share.answered(limit, ask.limits[at] as never, limits[at] as never, sentAt, now);
      for (const [place, question] of waiting.entries()) {
        const isAdmitted = place < admitted;
        if (isAdmitted) for (const { share } of parts) share.useTold(now);
        const later = isAdmitted ? admitted - 1 - place : 0; // calls that were counted after this one
        const then = quotas(question.parts, now).map((one) => ({ ...one, remaining: one.remaining + later }));
        verdicts.set(question, { admitted: isAdmitted, quotas: then });
      }
    }
  }

  /** Returns null if the ledger does not answer in time. */
  private async answer(asks: readonly LedgerAsk[]): Promise<readonly LedgerAnswer[] | null> {
    const failed = (error: unknown) => {
      this.countAlone(error);
      return null;
    };
    const answer = this.ledger.ask(asks, RESERVED_MS);
    const inTime = await resultWithin(answer, this.patienceMs).catch(failed);
    if (inTime) this.countTogether();
    else failed(new Error(`no answer within ${this.patienceMs} ms`)); // unless the failure is known
    return inTime;
  }

  private countAlone(error: unknown): void {
    if (this.aloneSince !== null) return;
    this.aloneSince = this.now();
    this.logger.warn('this instance counts alone for the rate limits', { error });
  }

  private countTogether(): void {
    if (this.aloneSince === null) return;
    const seconds = Math.round((this.now() - this.aloneSince) / 100) / 10;
    this.aloneSince = null;
    this.logger.info('all instances count together for the rate limits again', { after_s: seconds });
  }

  private toTell(caller: Caller): void {
    // The set is bounded during a long outage. Calls that are not in it still count on this instance.
    if (this.untold.size < MAX_KEYS) this.untold.add(caller);
  }

  /**
   * Tells the ledger of the calls from leases that end soon, or of all calls. While the ledger is out of reach, sends
   * only the first reports, to find out whether it is back.
   */
  async tell(which: 'due' | 'all' = 'due'): Promise<void> {
    this.sendRenewals();
    const now = this.now();
    const callers: Caller[] = [];
    for (const caller of this.untold) {
      // A renewal that is under way tells the calls of its caller. `stop` waits for it.
      const isOpen = caller.renewing !== null || caller.untold(now).length > 0;
      if (isOpen && which === 'due' && (caller.renewing || !caller.isDue(now))) continue;
      this.untold.delete(caller);
      if (isOpen) callers.push(caller);
    }
    for (let at = 0; at < callers.length || this.aloneSince !== null; at += AT_ONCE) {
      const reports = callers.slice(at, at + AT_ONCE).map((caller) => reportOf(caller, now));
      // Also without any report: then the empty statement only finds out whether the ledger answers.
      if (reports.length === 0) reports.push(NO_REPORT);
      await this.questions.add('all', reports);
      if (this.aloneSince === null) continue;
      for (const caller of callers.slice(at)) this.untold.add(caller);
      return;
    }
  }
}

const quotas = (parts: readonly Part[], now: number): Quota[] =>
  parts.map(({ share, limit }) => share.quota(limit, now));
const ownQuotas = (parts: readonly Part[], now: number): Quota[] =>
  parts.map(({ share, limit }) => share.ownQuota(limit, now));

const reportOf = (caller: Caller, now: number): Question => {
  return { caller, parts: caller.untold(now), calls: 0, wants: false, isReport: true };
};
/** After a failed count, the last number of instances counts. */
const keepLast = () => undefined;
const NO_REPORT: Question = reportOf(new Caller(''), 0);
