import { injectable } from 'inversify';
import type { AccountCaller, Caller, Role } from '../../domain/accounts/caller.js';
import { RoleForbidden } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { CallPlace } from '../../domain/record/call-place.js';
import type { Feedback } from '../../domain/record/feedback.js';
import type { KeptCall } from '../../domain/record/kept-call.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Authority } from '../accounts/authority.js';
import { Audit } from '../audit/audit.service.js';
import { boundedPage } from '../shared/bounded-page.js';
import { joined } from '../shared/joined.js';
import type { WithMemory } from '../shared/memory-budget.js';
import type { Page, SizedItem } from '../shared/ports.js';
import { type InProject, TeamWorkspace } from '../workspace/team-workspace.js';
import { type CallFilter, FeedbackRepository, KeptCallRepository, type LocatedCall, type NamedCall } from './ports.js';

type Listing = CallFilter & WithMemory & { readonly page: Page };

interface OfCall extends InProject {
  /** The id of the call's job, or the id in the answer. */
  readonly id: string;
}

export interface CallWithFeedback {
  readonly call: KeptCall;
  readonly feedback: readonly Feedback[];
}

export interface CallPage {
  readonly items: readonly CallWithFeedback[];
  /** The place of the last call that was selected, though it may be gone since. Null on the last page. */
  readonly next: string | null;
}

/** The calls that an export reads together. */
const MOST_IN_PART = 100;

/** Shows the calls that projects keep. Members see only their own calls: the calls of others are NotFound for them. */
@injectable()
export class CallService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly calls: KeptCallRepository,
    private readonly feedback: FeedbackRepository,
    private readonly authority: Authority,
    private readonly audit: Audit,
  ) {}

  /**
   * Lists the calls of a project, the newest first, each with the newest feedback that counts. Long contents shorten the
   * page. Throws NotFound.
   */
  async list(by: Caller | null, { page, memory, ...wanted }: Listing): Promise<CallPage> {
    const filter = await this.filterOf(by, wanted);
    return filter ? this.page(filter, page, memory) : { items: [], next: null };
  }

  /** Returns a call with all feedback on it and its history. Throws NotFound. */
  async find(by: Caller | null, { memory, ...wanted }: OfCall & WithMemory): Promise<CallWithFeedback> {
    const caller = authorize(by, permissions.readWorkspace);
    const { id, bytes } = await this.own(caller, wanted);
    await memory.reserve(bytes, await this.feedback.bytesOf(id));
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

  /**
   * Returns all that `list` lists, in parts. Throws NotFound. A part throws RoleForbidden if the caller does not see the
   * calls of others any more, so that the file ends.
   */
  async export(
    by: Caller | null,
    { memory, ...wanted }: CallFilter & WithMemory,
  ): Promise<AsyncIterable<readonly CallWithFeedback[]>> {
    const parts = this.parts(by, wanted, memory);
    return joined(await parts.next(), parts); // a refusal comes before the file begins
  }

  private async *parts(
    by: Caller | null,
    wanted: CallFilter,
    memory: WithMemory['memory'],
  ): AsyncGenerator<readonly CallWithFeedback[]> {
    const filter = await this.filterOf(by, wanted);
    if (!filter) return;
    // A part holds the memory of the one before: a file that has begun should not end early for a lack of memory.
    const growing = { reserve: (bytes: number) => memory.grow(bytes) };
    for (let after: string | null = null; ; ) {
      const part: CallPage = await this.page(filter, { limit: MOST_IN_PART, after }, growing);
      yield part.items;
      if (part.next === null) return;
      after = part.next;
      await this.requireSame(by, filter);
    }
  }

  /** Throws if the caller's rights have ended or changed since the filter was made. */
  private async requireSame(by: Caller | null, filter: CallFilter): Promise<void> {
    const caller = await this.authority.confirm(by, permissions.readWorkspace);
    const now = await this.filterOf(caller, filter);
    if (now?.accountId !== filter.accountId) throw new RoleForbidden(ALL_SEEING);
  }

  private async page(filter: CallFilter, page: Page, memory: Pick<WithMemory['memory'], 'reserve'>): Promise<CallPage> {
    let last: string | null = null;
    const { items, more } = await boundedPage(page, {
      sizes: (part) => this.sizes(filter, part),
      fetch: (_, selected) => {
        last = selected.at(-1)?.id ?? null;
        return this.calls.read(selected.map(idOf));
      },
      memory,
    });
    const all = items.length > 0 ? await this.feedback.current(items.map(({ id }) => id)) : [];
    const byCall = new Map<string, Feedback[]>(items.map(({ id }) => [id, []]));
    for (const one of all) byCall.get(one.callId)?.push(one);
    return { items: items.map((call) => ({ call, feedback: byCall.get(call.id) ?? [] })), next: more ? last : null };
  }

  /** Returns the sizes of calls, each with the feedback that a list shows. */
  private async sizes(filter: CallFilter, page: Page): Promise<SizedItem[]> {
    const calls = await this.calls.sizes(filter, page);
    const ofFeedback = await this.feedback.sizesOfCurrent(calls.map(idOf));
    return calls.map((one) => ({ ...one, bytes: one.bytes + (ofFeedback.get(idOf(one)) ?? 0) }));
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

const idOf = ({ id }: SizedItem): string => CallPlace.of(id).id;

/** The roles that see the calls of the whole team. */
const ALL_SEEING: readonly Role[] = ['admin', 'developer'];

const seesAll = ({ role }: AccountCaller): boolean => ALL_SEEING.includes(role);
