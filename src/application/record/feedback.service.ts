import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { MaskingFailed } from '../../domain/record/errors.js';
import { Feedback, type FeedbackInput } from '../../domain/record/feedback.js';
import { KeptCall } from '../../domain/record/kept-call.js';
import { Recording } from '../../domain/record/recording.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import type { Json } from '../../domain/workspace/json.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { FeedbackRepository, KeptCallRepository, type LocatedCall, Masker } from './ports.js';

interface OfCall {
  /** The id of the job, or the id in the answer. */
  readonly callId: string;
}

/**
 * Takes what accounts say about calls. Who may chat may give feedback on each call of the team that is kept. That shows
 * nothing of the call.
 */
@injectable()
export class FeedbackService {
  constructor(
    private readonly calls: KeptCallRepository,
    private readonly feedback: FeedbackRepository,
    private readonly workspace: TeamWorkspace,
    private readonly masker: Masker,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound unless the caller may give feedback on the call. */
  async requireCall(by: Caller | null, { callId }: OfCall): Promise<void> {
    await this.call(authorize(by, permissions.chat), callId);
  }

  /** Stores the caller's feedback, which replaces an earlier one. Throws NotFound, InvalidRequest. */
  async give(by: Caller | null, { callId, ...sent }: OfCall & FeedbackInput): Promise<Feedback> {
    const caller = authorize(by, permissions.chat);
    const call = await this.call(caller, callId);
    const input = Feedback.checked(sent);
    const { spec } = await this.workspace.project(caller, call.projectId);
    const masked = await this.masked(input, Recording.of(spec), caller.teamId);
    const { accountId } = caller;
    const feedback: Feedback = {
      ...masked,
      ...{ id: this.ids.next('fbk'), callId: call.id, projectId: call.projectId, accountId },
      keyId: caller.kind === 'api_key' ? caller.credentialId : null,
      createdAt: this.clock.now(),
      isCurrent: true,
    };
    await this.unitOfWork.run(async () => {
      Feedback.requireRoom(await this.feedback.history(call.id, accountId), masked);
      await this.feedback.add(feedback);
    });
    return feedback;
  }

  /**
   * Returns the caller's own newest call with this id, or else the newest of the team. Throws NotFound, also for calls
   * that the caller's key is not for.
   */
  private async call(caller: AccountCaller, sentId: string): Promise<LocatedCall> {
    const id = KeptCall.idOf(sentId);
    if (id === null) throw new NotFound('call');
    const { teamId, accountId } = caller;
    const named = { teamId, id, projectIds: KeyScope.projectsOf(caller) };
    const own = await this.calls.locate({ ...named, accountId });
    const call = own ?? (await this.calls.locate({ ...named, accountId: null }));
    if (!call) throw new NotFound('call');
    return call;
  }

  /** Masks the texts as the project wants it now. Throws InvalidRequest if they cannot be masked. */
  private async masked({ score, ...texts }: FeedbackInput, { mask }: Recording, owner: string): Promise<FeedbackInput> {
    if (mask.length === 0) return { score, ...texts };
    try {
      const sent: readonly Json[] = [texts.label, texts.comment, texts.correction];
      const [label, comment, correction] = await this.masker.maskJson(sent, mask, { owner });
      return { score, label, comment, correction } as FeedbackInput;
    } catch (error) {
      if (!(error instanceof MaskingFailed)) throw error;
      throw new InvalidRequest([{ path: '', message: `cannot be masked, so it is not stored: ${error.reason}` }]);
    }
  }
}
