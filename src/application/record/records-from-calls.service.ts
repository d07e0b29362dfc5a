import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Evaluation } from '../../domain/jobs/evaluation.js';
import { KeptCall } from '../../domain/record/kept-call.js';
import { callLimits } from '../../domain/record/kept-part.js';
import {
  type CallProblem,
  type CallRow,
  type ExpectedPart,
  isProblem,
  rowOfCall,
} from '../../domain/record/record-of-call.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { utf8Bytes } from '../../domain/shared/text.js';
import { Problems, sentList } from '../../domain/workspace/dataset-import.js';
import { shortened } from '../../domain/workspace/dataset-validation.js';
import type { Json } from '../../domain/workspace/json.js';
import type { Project } from '../../domain/workspace/project.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { ServiceSettings } from '../shared/ports.js';
import { type Appendix, DatasetRecordsService } from '../workspace/dataset-records.service.js';
import { type Change, type OfDataset, TeamWorkspace } from '../workspace/team-workspace.js';
import { FeedbackRepository, KeptCallRepository } from './ports.js';

/** A call that becomes a record. */
export interface SentCall {
  /** The id of the job, or the id in the answer. */
  readonly callId: string;
  readonly expected: ExpectedPart;
}

interface FromCalls extends OfDataset, Change, WithMemory {
  readonly fromCalls: readonly SentCall[];
}

/** The calls that are read together, and the most memory that each takes with its correction. */
const BATCH = 10;
const CALL_BYTES = 3 * callLimits.sideBytes;

const UNKNOWN: CallProblem = { field: 'call_id', problem: 'is no call of this project that is kept' };

/** Makes records of datasets from calls that a project keeps. Admins and developers read all of them. */
@injectable()
export class RecordsFromCallsService {
  constructor(
    private readonly records: DatasetRecordsService,
    private readonly workspace: TeamWorkspace,
    private readonly calls: KeptCallRepository,
    private readonly feedback: FeedbackRepository,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Adds a record for each call, unless the dataset has its content already. Throws what `DatasetRecordsService.append`
   * throws.
   */
  async append(by: Caller | null, { fromCalls, ...change }: FromCalls): Promise<Appendix> {
    const caller = authorize(by, permissions.editWorkspace);
    const { projectId, datasetId } = change;
    await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes before InvalidRequest
    this.requireFew(fromCalls);
    const project = await this.workspace.project(caller, projectId);
    const rows = await this.rows(project, fromCalls, change);
    return this.records.append(caller, { ...change, records: sentList(rows), distinctIds: true });
  }

  private requireFew({ length }: readonly SentCall[]): void {
    const { datasetRecords: most } = this.settings;
    if (length <= most) return;
    const message = `there are ${length} calls, but a dataset may have at most ${most} records (SERVICE_DATASET_RECORDS)`;
    throw new InvalidRequest([{ path: 'from_calls', message }]);
  }

  /** Holds memory for the rows. Throws InvalidRequest with all problems of all calls. */
  private async rows(
    project: Project,
    sent: readonly SentCall[],
    { memory, signal }: Pick<FromCalls, 'memory' | 'signal'>,
  ): Promise<CallRow[]> {
    const rows: CallRow[] = [];
    const problems = new Problems();
    let bytes = 0;
    for (let at = 0; at < sent.length; at += BATCH) {
      signal.throwIfAborted();
      const part = sent.slice(at, at + BATCH);
      await memory.growBytes(2 * bytes + part.length * CALL_BYTES);
      for (const [index, made] of (await this.made(project, part)).entries()) {
        if (isProblem(made)) {
          problems.add({ path: `from_calls.${at + index}.${made.field}`, message: made.problem });
          continue;
        }
        rows.push(made);
        bytes += utf8Bytes(JSON.stringify(made));
      }
      this.requireShort(bytes);
    }
    const more = (left: number) => ({ path: 'from_calls', message: `has ${left} more problems` });
    if (problems.count > 0) throw new InvalidRequest(shortened(problems.listed, more, problems.count));
    return rows;
  }

  /** Refuses rows that cannot fit in a dataset before the others are read. */
  private requireShort(bytes: number): void {
    const { datasetBytes: most } = this.settings;
    if (bytes <= most) return;
    const message = `have more than ${Math.floor(most / 1024 ** 2)} MiB of content together, the most that a dataset may have`;
    throw new InvalidRequest([{ path: 'from_calls', message }]);
  }

  private async made(project: Project, sent: readonly SentCall[]): Promise<(CallRow | CallProblem)[]> {
    const ids = sent.map(({ callId }) => KeptCall.idOf(callId));
    const calls = await this.calls.some(
      project.id,
      ids.filter((id) => id !== null),
    );
    const found = ids.map((id) => calls.find((call) => call.id === id) ?? newest(calls, id));
    const corrected = found.filter((call, index) => call && sent[index]?.expected === 'correction');
    const corrections: ReadonlyMap<string, Json> = await this.feedback.corrections(
      corrected.map((call) => call?.id ?? ''),
    );
    const hasSystemPrompt = Evaluation.systemPrompt(project) !== null;
    return sent.map(({ expected }, index) => {
      const call = found[index];
      return call ? rowOfCall(call, { expected, correction: corrections.get(call.id), hasSystemPrompt }) : UNKNOWN;
    });
  }
}

/** A call that was asked for by its own id may have the same id in its answer as a newer one. */
const newest = (calls: readonly KeptCall[], answerId: string | null): KeptCall | undefined =>
  calls
    .filter((call) => answerId !== null && call.answerId === answerId)
    .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())[0];
