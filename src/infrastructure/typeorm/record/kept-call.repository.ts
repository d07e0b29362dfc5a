import { injectable } from 'inversify';
import { And, Equal, type FindOperator, type FindOptionsWhere, In, LessThan, MoreThan, Raw } from 'typeorm';
import type {
  CallFilter,
  CallOwner,
  KeptCallRepository,
  LocatedCall,
  NamedCall,
} from '../../../application/record/ports.js';
import { Clock, type Page, type SizedItem } from '../../../application/shared/ports.js';
import { CallPlace } from '../../../domain/record/call-place.js';
import { KeptCall } from '../../../domain/record/kept-call.js';
import { changesOne, defineTable, type StoredBytes, storedBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { CallList } from './call-list.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface CallRow extends Omit<KeptCall, 'request' | 'answer'>, StoredBytes {
  readonly request: object | null;
  readonly answer: object | null;
}

export const KeptCallTable = defineTable<CallRow>('calls', {
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

/** An engine elsewhere may give many answers the same id. */
const NEWEST_BY_ANSWER = `
  SELECT DISTINCT ON (answer_id) id FROM calls
   WHERE project_id = $1 AND answer_id = ANY($2::text[]) AND expires_at > $3
     AND EXISTS (SELECT FROM accounts WHERE accounts.id = account_id)
   ORDER BY answer_id, created_at DESC, id DESC`;

/** Matches the ids of rows that exist, because the calls of a deleted project or account are deleted later. */
function existing(table: 'projects' | 'accounts', among: FindOperator<string> | null = null): FindOperator<string> {
  const exists = Raw((column) => `EXISTS (SELECT FROM ${table} WHERE ${table}.id = ${column})`);
  return among ? And(among, exists) : exists;
}

const NEWEST = { createdAt: 'DESC', id: 'DESC' } as const;

const asCall = (row: CallRow) => row as KeptCall;

@injectable()
export class TypeOrmKeptCallRepository implements KeptCallRepository {
  private readonly table = () => this.unitOfWork.repository(KeptCallTable);
  private readonly calls: CallList;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly clock: Clock,
  ) {
    this.calls = new CallList(unitOfWork);
  }

  async find(wanted: NamedCall): Promise<KeptCall | null> {
    const row = await this.table().findOne({ where: this.named(wanted), order: NEWEST });
    return row && asCall(row);
  }

  async locate(wanted: NamedCall): Promise<LocatedCall | null> {
    const select = { id: true, projectId: true, accountId: true, storedBytes: true, createdAt: true } as const;
    const row = await this.table().findOne({ select, where: this.named(wanted), order: NEWEST });
    return row && { id: row.id, projectId: row.projectId, accountId: row.accountId, bytes: row.storedBytes };
  }

  private named({ teamId, id, projectIds, accountId }: NamedCall): FindOptionsWhere<CallRow>[] {
    const projectId = existing('projects', projectIds && In([...projectIds]));
    const within = { teamId, projectId, accountId: existing('accounts', accountId === null ? null : Equal(accountId)) };
    const expiresAt = MoreThan(this.clock.now());
    return [
      { id, ...within, expiresAt },
      { answerId: KeptCall.idOf(id) ?? id, ...within, expiresAt },
    ];
  }

  async some(projectId: string, ids: readonly string[]): Promise<KeptCall[]> {
    const now = this.clock.now();
    const named = await this.unitOfWork.query<{ id: string }>(NEWEST_BY_ANSWER, [projectId, ids, now]);
    const id = In([...ids, ...named.map((one) => one.id)]);
    const accountId = existing('accounts');
    return (await this.table().findBy({ id, projectId, accountId, expiresAt: MoreThan(now) })).map(asCall);
  }

  async sizes(filter: CallFilter, page: Page): Promise<SizedItem[]> {
    const found = await this.calls.part(filter, page, this.clock.now());
    return found.map((call) => ({ id: CallPlace.textOf(call), bytes: call.storedBytes }));
  }

  async read(ids: readonly string[]): Promise<KeptCall[]> {
    if (ids.length === 0) return [];
    const rows = await this.table().find({ where: { id: In([...ids]) }, order: NEWEST });
    return rows.map(asCall);
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
