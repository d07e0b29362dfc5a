import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { CallPlace } from '../../domain/record/call-place.js';
import type { Feedback } from '../../domain/record/feedback.js';
import type { RecordedCall } from '../../domain/record/recorded-call.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { joined } from '../shared/joined.js';
import type { WithMemory } from '../shared/memory-budget.js';
import type { Page } from '../shared/ports.js';
import { type InProject, TeamWorkspace } from '../workspace/team-workspace.js';
import {
  type CallFilter,
  FeedbackRepository,
  type LocatedCall,
  type NamedCall,
  RecordedCallRepository,
} from './ports.js';

type Listing = CallFilter & WithMemory & { readonly page: Page };

interface OfCall extends InProject {
  /** The id of the call's job, or the id in the answer. */
  readonly id: string;
}

/** A call with all feedback on it. */
export interface CallWithFeedback {
  readonly call: RecordedCall;
  readonly feedback: readonly Feedback[];
}

/** The calls that an export reads together. */
const MOST_IN_PART = 100;

/** Shows the calls that projects keep. Members see only their own calls: the calls of others are NotFound for them. */
@injectable()
export class CallService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly calls: RecordedCallRepository,
    private readonly feedback: FeedbackRepository,
    private readonly audit: Audit,
  ) {}

  /** Lists the calls of a project, the newest first. Long contents shorten the page. Throws NotFound. */
  async list(by: Caller | null, { page, memory, ...wanted }: Listing): Promise<Bounded<CallWithFeedback>> {
    const filter = await this.filterOf(by, wanted);
    return filter ? this.page(filter, page, memory) : { items: [], more: false };
  }

  /** Throws NotFound. */
  async find(by: Caller | null, { memory, ...wanted }: OfCall & WithMemory): Promise<CallWithFeedback> {
    const caller = authorize(by, permissions.readWorkspace);
    const { id, bytes } = await this.own(caller, wanted);
    await memory.reserve(bytes);
    const call = await this.calls.find(within(caller, { ...wanted, id }));
    if (!call) throw new NotFound('call');
    return { call, feedback: await this.feedback.ofCalls([id]) };
  }

  /** Throws NotFound. */
  async requireProject(by: Caller | null, { projectId }: InProject): Promise<void> {
    await this.workspace.project(authorize(by, permissions.readWorkspace), projectId);
  }

  /** Throws NotFound, also if the caller may not see the call. */
  async require(by: Caller | null, wanted: OfCall): Promise<void> {
    await this.own(authorize(by, permissions.readWorkspace), wanted);
  }

  /** Deletes a call with its content and its feedback. Throws NotFound. Returns its id. */
  async remove(by: Caller | null, wanted: OfCall): Promise<string> {
    const caller = authorize(by, permissions.deleteCalls);
    const { id } = await this.own(caller, wanted);
    const act = { by: caller, action: 'call.deleted', object: { id } } as const;
    if (!(await this.audit.perform(act, () => this.calls.remove(id)))) throw new NotFound('call');
    return id;
  }

  /** Returns all that `list` lists, in parts. Throws NotFound. */
  async export(
    by: Caller | null,
    { memory, ...wanted }: CallFilter & WithMemory,
  ): Promise<AsyncIterable<readonly CallWithFeedback[]>> {
    const parts = this.parts(await this.filterOf(by, wanted), memory);
    return joined(await parts.next(), parts); // a refusal comes before the file begins
  }

  private async *parts(
    filter: CallFilter | null,
    memory: WithMemory['memory'],
  ): AsyncGenerator<readonly CallWithFeedback[]> {
    if (!filter) return;
    // A part holds the memory of the one before: a file that has begun should not end early for a lack of memory.
    const growing = { reserve: (bytes: number) => memory.grow(bytes) };
    for (let [after, more]: [string | null, boolean] = [null, true]; more; ) {
      const part: Bounded<CallWithFeedback> = await this.page(filter, { limit: MOST_IN_PART, after }, growing);
      yield part.items;
      const last = part.items.at(-1);
      after = last ? CallPlace.textOf(last.call) : null;
      more = part.more && last !== undefined;
    }
  }

  private async page(
    filter: CallFilter,
    page: Page,
    memory: Pick<WithMemory['memory'], 'reserve'>,
  ): Promise<Bounded<CallWithFeedback>> {
    const { items, more } = await boundedPage(page, {
      sizes: (part) => this.calls.sizes(filter, part),
      fetch: (part) => this.calls.list(filter, part),
      memory,
    });
    const all = items.length > 0 ? await this.feedback.ofCalls(items.map(({ id }) => id)) : [];
    const byCall = new Map<string, Feedback[]>(items.map(({ id }) => [id, []]));
    for (const one of all) byCall.get(one.callId)?.push(one);
    return { items: items.map((call) => ({ call, feedback: byCall.get(call.id) ?? [] })), more };
  }

  /** Returns the filter within what the caller may see, or null if that is nothing. Throws NotFound. */
  private async filterOf(by: Caller | null, filter: CallFilter): Promise<CallFilter | null> {
    const caller = authorize(by, permissions.readWorkspace);
    await this.workspace.project(caller, filter.projectId);
    if (seesAll(caller)) return filter;
    const isOthers = filter.accountId !== null && filter.accountId !== caller.accountId;
    return isOthers ? null : { ...filter, accountId: caller.accountId };
  }

  private async own(caller: AccountCaller, { projectId, id }: OfCall): Promise<LocatedCall> {
    await this.workspace.project(caller, projectId);
    const call = await this.calls.locate(within(caller, { projectId, id }));
    if (!call) throw new NotFound('call');
    return call;
  }
}

/** Names a call among those that the caller sees in the project. */
const within = (caller: AccountCaller, { projectId, id }: OfCall): NamedCall => {
  const { teamId, accountId } = caller;
  return { teamId, id, projectIds: [projectId], accountId: seesAll(caller) ? null : accountId };
};

const seesAll = ({ role }: AccountCaller): boolean => role !== 'member';
