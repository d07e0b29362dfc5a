import { injectable } from 'inversify';
import { type FindOptionsWhere, In, LessThan, MoreThan } from 'typeorm';
import type { CallFilter, CallOwner, LocatedCall, RecordedCallRepository } from '../../../application/record/ports.js';
import { Clock, type Page, type SizedItem } from '../../../application/shared/ports.js';
import { CallPlace } from '../../../domain/record/call-place.js';
import { RecordedCall } from '../../../domain/record/recorded-call.js';
import { storable } from '../../../domain/shared/text.js';
import { Batches } from '../batches.js';
import { NOT_DURABLE } from '../spend/hold.repository.js';
import { changesOne, defineTable, type StoredBytes, storedBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { CallList } from './call-list.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface CallRow extends Omit<RecordedCall, 'request' | 'answer'>, StoredBytes {
  readonly request: object | null;
  readonly answer: object | null;
}

export const RecordedCallTable = defineTable<CallRow>('calls', {
  id: { type: 'text', primary: true },
  answerId: { type: 'text', nullable: true },
  teamId: { type: 'text' },
  projectId: { type: 'text' },
  accountId: { type: 'text' },
  keyId: { type: 'text', nullable: true },
  modelId: { type: 'text', nullable: true },
  kind: { type: 'text' },
  status: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  startedAt: { type: 'timestamptz', nullable: true },
  finishedAt: { type: 'timestamptz' },
  usage: { type: 'json', nullable: true },
  cost: { type: 'numeric', precision: 27, scale: 9, nullable: true },
  content: { type: 'text' },
  request: { type: 'json', nullable: true },
  answer: { type: 'json', nullable: true },
  truncated: { type: 'boolean' },
  expiresAt: { type: 'timestamptz' },
  storedBytes: { ...storedBytes, type: 'integer' },
});

const NEWEST = { createdAt: 'DESC', id: 'DESC' } as const;

const asCall = (row: CallRow) => row as RecordedCall;

@injectable()
export class TypeOrmRecordedCallRepository implements RecordedCallRepository {
  private readonly table = () => this.unitOfWork.repository(RecordedCallTable);
  /** Calls that end at the same time are stored together, in one statement. */
  private readonly adding = new Batches((calls: readonly RecordedCall[]) => this.addAll(calls));
  private readonly calls: CallList;
  private text: string | null = null;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly clock: Clock,
  ) {
    this.calls = new CallList(unitOfWork);
  }

  async add(call: RecordedCall): Promise<void> {
    await this.adding.add(call.teamId, call);
  }

  private async addAll(calls: readonly RecordedCall[]): Promise<readonly undefined[]> {
    const { driver } = this.table().manager.dataSource;
    const values: unknown[] = this.columns().map((column) =>
      calls.map((call) => driver.preparePersistentValue(column.getEntityValue(call), column)),
    );
    const texts = calls.map((call) => (call.request ? storable(RecordedCall.searchText(call)).toLowerCase() : null));
    this.text ??= this.insertText();
    await this.unitOfWork.prepared('calls that are kept', this.text, [...values, texts]);
    return calls.map(() => undefined);
  }

  /** Returns the SQL that stores calls. The locks keep projects and accounts from being deleted meanwhile. */
  private insertText(): string {
    const columns = this.columns();
    const names = columns.map(({ databaseName }) => databaseName);
    return `
      INSERT INTO calls (${names}, stored_bytes, search)
      SELECT ${names.map((name) => `call.${name}`)},
             coalesce(octet_length(call.request::text), 0) + coalesce(octet_length(call.answer::text), 0),
             strip(to_tsvector('simple', searched)) || array_to_tsvector(call_spans(call.project_id, call.created_at))
        FROM unnest(${[...columns.map(({ type }, at) => `$${at + 1}::${type}[]`), `$${columns.length + 1}::text[]`]})
             AS call (${names}, searched)
        JOIN projects ON projects.id = project_id JOIN accounts ON accounts.id = account_id
       ORDER BY call.id FOR KEY SHARE OF projects, accounts
          ON CONFLICT (id) DO NOTHING
      RETURNING ${NOT_DURABLE}`;
  }

  private columns() {
    return this.table().metadata.columns.filter(({ propertyName }) => propertyName !== 'storedBytes');
  }

  async find(teamId: string, id: string): Promise<RecordedCall | null> {
    const row = await this.table().findOne({ where: this.named(teamId, id), order: NEWEST });
    return row && asCall(row);
  }

  async locate(teamId: string, id: string): Promise<LocatedCall | null> {
    const select = { id: true, projectId: true, accountId: true, storedBytes: true, createdAt: true } as const;
    const row = await this.table().findOne({ select, where: this.named(teamId, id), order: NEWEST });
    return row && { id: row.id, projectId: row.projectId, accountId: row.accountId, bytes: row.storedBytes };
  }

  private named(teamId: string, id: string): FindOptionsWhere<CallRow>[] {
    const expiresAt = MoreThan(this.clock.now());
    return [
      { id, teamId, expiresAt },
      { answerId: RecordedCall.answerNamed(id), teamId, expiresAt },
    ];
  }

  async list(filter: CallFilter, page: Page): Promise<RecordedCall[]> {
    const ids = (await this.calls.part(filter, page, this.clock.now())).map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = await this.table().find({ where: { id: In(ids) }, order: NEWEST });
    return rows.map(asCall);
  }

  async sizes(filter: CallFilter, page: Page): Promise<SizedItem[]> {
    const found = await this.calls.part(filter, page, this.clock.now());
    return found.map((call) => ({ id: CallPlace.textOf(call), bytes: call.storedBytes }));
  }

  remove(id: string): Promise<boolean> {
    return changesOne(this.table().delete({ id }));
  }

  removeSome(owner: CallOwner, most: number): Promise<number> {
    return this.unitOfWork.readCommitted(async () => {
      const some = await this.table().find({ select: { id: true }, where: owner, take: most });
      return this.deleted(some);
    });
  }

  forget(now: Date, most: number): Promise<number> {
    const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
    const where = { expiresAt: LessThan(now) };
    const order = { expiresAt: 'ASC' } as const;
    return this.unitOfWork.readCommitted(async () =>
      this.deleted(await this.table().find({ select: { id: true }, where, take: most, lock, order })),
    );
  }

  private async deleted(calls: readonly Pick<CallRow, 'id'>[]): Promise<number> {
    if (calls.length > 0) await this.table().delete({ id: In(calls.map(({ id }) => id)) });
    return calls.length;
  }
}
