import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { permissions } from '../../domain/accounts/permission.js';
import { AnswerAssembly, type ResponsePart } from '../../domain/chat/answer-assembly.js';
import type { CompletionEnd, CompletionPart } from '../../domain/chat/chat.js';
import { Response, type ResponseEnd, type ResponseFailure } from '../../domain/chat/response.js';
import { ResumedAnswer } from '../../domain/chat/resumed-answer.js';
import { DomainError, NotFound, StorageUnavailable } from '../../domain/shared/errors.js';
import type { BudgetExceeded } from '../../domain/spend/budget.js';
import type { KeyLimitReached } from '../../domain/spend/key-limit.js';
import type { Json, JsonObject } from '../../domain/workspace/json.js';
import { Authority } from '../accounts/authority.js';
import { AccountRepository } from '../accounts/ports.js';
import { MemoryBudget, type Reservation } from '../shared/memory-budget.js';
import { type Attempt, Clock, Logger, type TaskWorker } from '../shared/ports.js';
import { RetryAfter } from '../shared/retry-after.js';
import { hasNoRoomYet, nextLook } from '../spend/wait-for-room.js';
import { ChatService, type LastPart } from './chat.service.js';
import { ResponseRepository, type ResponseTask } from './ports.js';
import { endOf } from './response.service.js';
import { pauseAfter } from './response-attempts.js';
import { ResponseReader } from './response-reader.js';

/** The time between two looks at the database: stores what the model has said, and sees that the response was cancelled. */
const STORE_MS = 200;
const LOOK_EVERY = 5;

/** The time between two checks of the API key of the call. */
const CHECK_MS = 1_000;

/** The response was cancelled or deleted, or another instance runs it. This run must change nothing. */
class Superseded extends Error {
  constructor() {
    super('the response has ended, or goes on elsewhere');
  }
}

interface Run {
  readonly id: string;
  readonly number: number;
  readonly memory: Reservation;
  readonly signal: AbortSignal;
}

/**
 * Makes the answers of responses in the background. While a model is busy or unavailable, its responses wait in the work
 * queue and leave their places to others. A run after a crash asks the model again. As long as the new answer repeats
 * what is stored, readers see one answer. Every write checks that no later run has begun.
 */
@injectable()
export class ResponseRunner implements TaskWorker {
  readonly atOnce = 16;

  constructor(
    private readonly chats: ChatService,
    private readonly responses: ResponseRepository,
    private readonly reader: ResponseReader,
    private readonly accounts: AccountRepository,
    private readonly authority: Authority,
    private readonly budget: MemoryBudget,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  async run(payload: Json, { number: attempt, signal }: Attempt): Promise<void> {
    const id = responseOf(payload);
    const number = await this.responses.begin(id);
    if (number === null) return;
    try {
      await this.withMemory(id, (memory) => this.answer({ id, number, memory, signal }));
    } catch (error) {
      if (error instanceof Superseded) return;
      if (signal.aborted || !(error instanceof DomainError)) throw error;
      if (hasNoRoomYet(error)) await this.waitForRoom(id, error);
      else retryLater(error, attempt);
      if (error instanceof StorageUnavailable) throw error;
      await this.fail(id, number, Response.failureOf(error)).catch((again) => {
        retryLater(again, attempt);
        throw again;
      });
    }
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    const id = responseOf(payload);
    const number = await this.responses.begin(id);
    this.log.warn('a response was given up', { response_id: id, reason });
    const failure = { code: 'internal_error', message: 'It was given up after several attempts.', isBusy: false };
    if (number !== null) await this.fail(id, number, failure);
  }

  /** Reserves memory for everything that is stored of an open response. Does nothing if it is not open. */
  private async withMemory(id: string, work: (memory: Reservation) => Promise<void>): Promise<void> {
    const bytes = await this.responses.taskBytes(id);
    if (bytes === null) return;
    const memory = this.budget.open(id);
    try {
      await memory.reserve(bytes);
      memory.keep(null);
      await work(memory);
    } finally {
      memory.close();
    }
  }

  private async answer({ id, number, memory, signal }: Run): Promise<void> {
    const task = await this.responses.task(id);
    if (!task) return;
    const caller = await this.callerOf(task);
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const answer = new AnswerAssembly();
    const earlier: ResponsePart[] = [];
    for await (const part of this.reader.parts(id)) earlier.push(part);
    for (const part of earlier) for (const _ of answer.add(part));
    const resumed = new ResumedAnswer(earlier);
    const recorder = new Recorder((parts) => this.responses.append(id, number, parts), ended);
    const { projectId, request } = task;
    const take = (part: CompletionPart) => {
      for (const added of resumed.take(part)) {
        for (const _ of answer.add(added));
        recorder.add(added);
      }
    };
    const finish = async (end: CompletionEnd) => {
      await recorder.store();
      for (const _ of answer.end(end.finishReason !== 'length'));
      if (await this.finish(id, number, endOf(answer, end))) return;
      ended.abort(new Superseded());
      ended.signal.throwIfAborted();
    };
    const store = async (last: LastPart) => {
      take(last);
      await finish(last.end);
    };
    const look = setInterval(() => void recorder.look(() => this.responses.taskBytes(id)), STORE_MS);
    const check = setInterval(() => void this.checkKey(caller, ended), CHECK_MS);
    try {
      const chat = { projectId, keptIn: null, answerId: id, request, signal: either, memory, store };
      const { parts } = await this.chats.stream(caller, chat);
      for await (const part of parts) {
        if (part.end) return;
        take(part);
        if (answer.isFull) return await finish({ finishReason: 'length', usage: null });
      }
    } catch (error) {
      await recorder.store();
      throw error;
    } finally {
      clearInterval(look);
      clearInterval(check);
    }
  }

  private async fail(id: string, number: number, failure: ResponseFailure): Promise<void> {
    await this.withMemory(id, async () => {
      const output = await this.reader.outputSoFar(id);
      await this.finish(id, number, { status: 'failed', output, usage: null, failure });
    });
  }

  /** Throws RetryAfter, unless a day has passed since the response was created. */
  private async waitForRoom(id: string, error: BudgetExceeded | KeyLimitReached): Promise<void> {
    const task = await this.responses.task(id);
    const again = task && nextLook(error, { since: task.createdAt, now: this.clock.now() });
    if (again) throw again;
  }

  /** Returns false if the response had its end already. */
  private async finish(id: string, number: number, end: ResponseEnd): Promise<boolean> {
    const isStored = await this.responses.finish(id, number, end, this.clock.now());
    this.log.info(isStored ? 'response ended' : 'response had its end already', {
      response_id: id,
      status: end.status,
    });
    return isStored;
  }

  /** Aborts `ended` if the API key of the call has ended. If the database is out of reach, the response goes on. */
  private async checkKey(by: AccountCaller, ended: AbortController): Promise<void> {
    if (by.kind === 'session') return;
    const [lost] = await this.authority.lost([{ by, permission: permissions.chat }]).catch(() => []);
    if (lost) ended.abort(lost.reason);
  }

  /**
   * Returns the account that asked, as it is now. The session of the call may have ended since, but an API key must
   * still be valid: otherwise throws what `Authority.confirm` throws.
   */
  private async callerOf({ accountId, keyId }: ResponseTask): Promise<AccountCaller> {
    const account = await this.accounts.byId(accountId);
    if (!account) throw new NotFound('account');
    const { teamId, role, email, alertEmails, createdAt, name: accountName, emailVerifiedAt } = account;
    const caller: AccountCaller = {
      kind: keyId === null ? 'session' : 'api_key',
      credentialId: keyId ?? '',
      ...{ accountId, accountName, email, alertEmails, createdAt, teamId, role },
      operator: false,
      emailVerified: emailVerifiedAt !== null,
      lastUsedAt: null,
      restrictions: null,
    };
    return keyId === null ? caller : this.authority.confirm(caller, permissions.chat);
  }
}

/** Collects the parts of an answer, and stores them in batches one after another. */
class Recorder {
  private waiting: ResponsePart[] = [];
  private storing: Promise<void> = Promise.resolve();
  private isBusy = false;
  private looks = 0;

  /** Aborts `ended` if `append` returns false, or fails. */
  constructor(
    private readonly append: (parts: readonly ResponsePart[]) => Promise<boolean>,
    private readonly ended: AbortController,
  ) {}

  add(part: ResponsePart): void {
    const { text, reasoning, toolCalls, logprobs, anew } = part;
    const before = this.waiting.at(-1);
    const isPlain = (one: ResponsePart) => !one.toolCalls && !one.logprobs && one.reasoning === undefined;
    if (before && isPlain(before) && isPlain(part) && !anew)
      this.waiting.splice(-1, 1, { ...before, text: before.text + text });
    else if (text !== '' || reasoning || toolCalls || logprobs || anew)
      this.waiting.push({
        text,
        ...(reasoning !== undefined && { reasoning }),
        ...(toolCalls && { toolCalls }),
        ...(logprobs && { logprobs }),
        ...(anew && { anew }),
      });
  }

  /** Stores the collected parts. Resolves when all parts are stored. Throws Superseded. */
  store(): Promise<void> {
    this.storing = this.storing.then(async () => {
      const parts = this.waiting;
      this.waiting = [];
      if (parts.length > 0 && !(await this.append(parts))) throw new Superseded();
    });
    return this.storing;
  }

  /** Stores the collected parts. Without any, looks now and then whether the response is still open. Never throws. */
  async look(isOpen: () => Promise<number | null>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      if (this.waiting.length > 0) await this.store();
      else if (++this.looks % LOOK_EVERY === 0 && (await isOpen()) === null) throw new Superseded();
    } catch (error) {
      this.ended.abort(error);
    } finally {
      this.isBusy = false;
    }
  }
}

/** Throws RetryAfter if the work shall be tried again. */
function retryLater(error: unknown, attempt: number): void {
  const pauseMs = error instanceof DomainError ? pauseAfter(error, attempt) : null;
  if (pauseMs !== null) throw new RetryAfter(error, pauseMs);
}

const responseOf = (payload: Json): string => String((payload as JsonObject).response_id);
