import { injectable } from 'inversify';
import { type FindOneOptions, In, LessThan, MoreThan } from 'typeorm';
import type { CallFilter, CallHead, RecordedCallRepository } from '../../../application/record/ports.js';
import { Clock, type Page, type SizedItem } from '../../../application/shared/ports.js';
import { RecordedCall } from '../../../domain/record/recorded-call.js';
import { storable } from '../../../domain/shared/text.js';
import { Batches } from '../batches.js';
import { NOT_DURABLE } from '../spend/hold.repository.js';
import { changesOne, defineTable, newest, sizesOf } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface CallRow extends Omit<RecordedCall, 'request' | 'answer'> {
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
});

/** An engine elsewhere may give many answers the same id. */
const NEWEST_BY_ANSWER = `
  SELECT DISTINCT ON (answer_id) id FROM calls
   WHERE project_id = $1 AND answer_id = ANY($2::text[]) AND expires_at > $3
   ORDER BY answer_id, created_at DESC, id DESC`;

const asCall = (row: CallRow) => row as RecordedCall;

@injectable()
export class TypeOrmRecordedCallRepository implements RecordedCallRepository {
  private readonly table = () => this.unitOfWork.repository(RecordedCallTable);
  /** Calls that end at the same time are stored together, in one statement. */
  private readonly adding = new Batches((calls: readonly RecordedCall[]) => this.addAll(calls));
  private text: string | null = null;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly clock: Clock,
  ) {}

  async add(call: RecordedCall): Promise<void> {
    await this.adding.add(call.teamId, call);
  }

  private async addAll(calls: readonly RecordedCall[]): Promise<readonly undefined[]> {
    const { driver } = this.table().manager.dataSource;
    const { columns } = this.table().metadata;
    const values: unknown[] = columns.map((column) =>
      calls.map((call) => driver.preparePersistentValue(column.getEntityValue(call), column)),
    );
    const texts = calls.map((call) => (call.request ? storable(RecordedCall.searchText(call)) : null));
    this.text ??= this.insertText();
    await this.unitOfWork.prepared('calls that are kept', this.text, [...values, texts]);
    return calls.map(() => undefined);
  }

  /** Returns the SQL that stores calls. The locks keep projects and accounts from being deleted meanwhile. */
  private insertText(): string {
    const { columns } = this.table().metadata;
    const names = columns.map(({ databaseName }) => databaseName);
    return `
      INSERT INTO calls (${names}, search)
      SELECT ${names.map((name) => `call.${name}`)}, to_tsvector('simple', searched)
        FROM unnest(${[...columns.map(({ type }, at) => `$${at + 1}::${type}[]`), `$${columns.length + 1}::text[]`]})
             AS call (${names}, searched)
        JOIN projects ON projects.id = project_id JOIN accounts ON accounts.id = account_id
       ORDER BY call.id FOR KEY SHARE OF projects, accounts
          ON CONFLICT (id) DO NOTHING
      RETURNING ${NOT_DURABLE}`;
  }

  async find(teamId: string, id: string): Promise<RecordedCall | null> {
    const row = await this.table().findOne(this.named(teamId, id));
    return row && asCall(row);
  }

  async head(teamId: string, id: string): Promise<CallHead | null> {
    const found = await this.table().findOne({ ...this.named(teamId, id), select: { id: true, projectId: true } });
    return found && { id: found.id, projectId: found.projectId };
  }

  private named(teamId: string, id: string): Pick<FindOneOptions<CallRow>, 'where' | 'order'> {
    const expiresAt = MoreThan(this.clock.now());
    const where = [
      { id, teamId, expiresAt },
      { answerId: id, teamId, expiresAt },
    ];
    return { where, order: { createdAt: 'DESC', id: 'DESC' } };
  }

  async some(projectId: string, ids: readonly string[]): Promise<RecordedCall[]> {
    const now = this.clock.now();
    const named = await this.unitOfWork.query<{ id: string }>(NEWEST_BY_ANSWER, [projectId, ids, now]);
    const id = In([...ids, ...named.map((one) => one.id)]);
    return (await this.table().findBy({ id, projectId, expiresAt: MoreThan(now) })).map(asCall);
  }

  async list(filter: CallFilter, page: Page): Promise<RecordedCall[]> {
    return (await this.table().find(this.part(filter, page))).map(asCall);
  }

  sizes(filter: CallFilter, page: Page): Promise<SizedItem[]> {
    return sizesOf(this.table(), this.part(filter, page), ['request', 'answer']);
  }

  private part({ projectId }: CallFilter, page: Page) {
    return newest<CallRow>({ projectId, expiresAt: MoreThan(this.clock.now()) }, page);
  }

  remove(id: string): Promise<boolean> {
    return changesOne(this.table().delete({ id }));
  }

  async forget(now: Date, most: number): Promise<number> {
    const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
    const where = { expiresAt: LessThan(now) };
    return this.unitOfWork.readCommitted(async () => {
      const old = await this.table().find({
        select: { id: true },
        where,
        take: most,
        lock,
        order: { expiresAt: 'ASC' },
      });
      if (old.length > 0) await this.table().delete(old.map(({ id }) => id));
      return old.length;
    });
  }
}
