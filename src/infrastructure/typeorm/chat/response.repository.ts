import { injectable } from 'inversify';
import { In, MoreThan } from 'typeorm';
import type {
  PartBatch,
  ResponseHead,
  ResponseKey,
  ResponseRepository,
  ResponseTask,
} from '../../../application/chat/ports.js';
import type { ResponsePart } from '../../../domain/chat/answer-assembly.js';
import type { Response, ResponseEnd } from '../../../domain/chat/response.js';
import { textBytes } from '../../../domain/shared/storage-quota.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { changesOne, defineTable, plus, type StoredBytes, storedBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface ResponseRow extends Omit<Response, 'messages' | 'repeated' | 'output' | 'usage' | 'failure'>, StoredBytes {
  readonly messages: object;
  readonly repeated: object;
  readonly output: object;
  readonly usage: object | null;
  readonly failure: object | null;
  readonly task: object | null;
  /** Counts the runs. Only the latest run may change the response. */
  readonly run: number;
  /** The number of stored batches. */
  readonly batches: number;
}

const unread = { select: false } as const;

export const ResponseTable = defineTable<ResponseRow>('responses', {
  id: { type: 'text', primary: true },
  accountId: { type: 'text' },
  projectId: { type: 'text' },
  status: { type: 'text' },
  background: { type: 'boolean' },
  previousId: { type: 'text', nullable: true },
  messages: { type: 'json' },
  repeated: { type: 'json' },
  output: { type: 'json' },
  usage: { type: 'json', nullable: true },
  failure: { type: 'json', nullable: true },
  createdAt: { type: 'timestamptz' },
  finishedAt: { type: 'timestamptz', nullable: true },
  task: { type: 'json', nullable: true, ...unread },
  run: { type: 'integer', ...unread },
  batches: { type: 'integer', ...unread },
  storedBytes,
});

interface BatchRow {
  readonly responseId: string;
  readonly number: number;
  readonly parts: object;
}

export const ResponseBatchTable = defineTable<BatchRow>('response_batches', {
  responseId: { type: 'text', primary: true },
  number: { type: 'integer', primary: true },
  parts: { type: 'json' },
});

const OPEN = In(['queued', 'in_progress']);

/** The ORM has no recursive queries. */
const LINEAGE = `
  WITH RECURSIVE line AS (
    SELECT id, previous_id, status, background, run, stored_bytes, 1 AS depth FROM responses
     WHERE id = $1 AND account_id = $2 AND ($4::text[] IS NULL OR project_id = ANY ($4))
     UNION ALL
    SELECT r.id, r.previous_id, r.status, r.background, r.run, r.stored_bytes, depth + 1
      FROM line JOIN responses r ON r.id = line.previous_id AND r.account_id = $2 AND ($4::text[] IS NULL OR r.project_id = ANY ($4))
     WHERE depth < $3)
  SELECT id, previous_id AS "previousId", status, background, run > 0 AS "hasBegun", stored_bytes::float AS bytes
    FROM line ORDER BY depth DESC`;

@injectable()
export class TypeOrmResponseRepository implements ResponseRepository {
  private readonly table = () => this.unitOfWork.repository(ResponseTable);
  private readonly batchTable = () => this.unitOfWork.repository(ResponseBatchTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(response: Response, task: ResponseTask | null): Promise<void> {
    const { messages, repeated, output } = response;
    const bytes = bytesOf({ messages, repeated, output, task });
    const row = { ...response, task, run: 0, batches: 0, storedBytes: bytes } as object as ResponseRow;
    await notFoundIfMissing('project', () => this.table().insert(row));
  }

  async head(key: ResponseKey): Promise<ResponseHead | null> {
    const select = {
      id: true,
      previousId: true,
      status: true,
      background: true,
      run: true,
      storedBytes: true,
    } as const;
    const found = await this.table().findOne({ select, where: ofKey(key) });
    if (!found) return null;
    const { id, previousId, status, background, run, storedBytes: bytes } = found;
    return { id, previousId, status, background, hasBegun: run > 0, bytes: Number(bytes) };
  }

  async find(key: ResponseKey): Promise<Response | null> {
    return (await this.table().findOneBy(ofKey(key))) as object as Response | null;
  }

  async sizes(...[accountId, ids, projects]: Parameters<ResponseRepository['sizes']>): Promise<number[]> {
    if (ids.length === 0) return [];
    const where = { ...inProjects(projects), accountId, id: In([...ids]) };
    return (await this.table().find({ select: { storedBytes: true }, where })).map((one) => Number(one.storedBytes));
  }

  async ofIds(...[accountId, ids, projects]: Parameters<ResponseRepository['ofIds']>): Promise<Response[]> {
    if (ids.length === 0) return [];
    return (await this.table().findBy({
      ...inProjects(projects),
      accountId,
      id: In([...ids]),
    })) as object as Response[];
  }

  lineage({ id, accountId, projects = null }: ResponseKey, limit: number): Promise<ResponseHead[]> {
    return this.unitOfWork.query<ResponseHead>(LINEAGE, [id, accountId, limit, projects]);
  }

  remove(key: ResponseKey): Promise<boolean> {
    return changesOne(this.table().delete(ofKey(key)));
  }

  cancel(key: ResponseKey, at: Date): Promise<boolean> {
    const change = { status: 'cancelled', finishedAt: at, task: null } as const;
    return changesOne(this.table().update({ ...ofKey(key), status: OPEN }, change));
  }

  async replaceOutput({ id, accountId }: ResponseKey, output: Response['output']): Promise<void> {
    const change = { output: output as object, storedBytes: plus(bytesOf({ output })) };
    await this.table().createQueryBuilder().update(change).where({ id, accountId }).execute();
  }

  async begin(id: string): Promise<number | null> {
    const begin = this.table()
      .createQueryBuilder()
      .update({ run: () => 'run + 1', status: 'in_progress' })
      .where({ id, status: OPEN });
    const { raw } = await begin.returning('run').execute();
    return raw[0]?.run ?? null;
  }

  async taskBytes(id: string): Promise<number | null> {
    const found = await this.table().findOne({ select: { id: true, storedBytes: true }, where: { id, status: OPEN } });
    return found && Number(found.storedBytes);
  }

  async task(id: string): Promise<(ResponseTask & Pick<Response, 'createdAt'>) | null> {
    const select = { id: true, task: true, createdAt: true } as const;
    const found = await this.table().findOne({ select, where: { id, status: OPEN } });
    return found?.task ? { ...(found.task as ResponseTask), createdAt: found.createdAt } : null;
  }

  append(id: string, run: number, parts: readonly ResponsePart[]): Promise<boolean> {
    return this.unitOfWork.readCommitted(async () => {
      const { raw } = await this.table()
        .createQueryBuilder()
        .update({ batches: () => 'batches + 1', storedBytes: plus(bytesOf({ parts })) })
        .where({ id, run, status: OPEN })
        .returning('batches AS number')
        .execute();
      if (raw.length === 0) return false;
      await this.batchTable().insert({ responseId: id, number: raw[0].number, parts });
      return true;
    });
  }

  async batches(responseId: string, after: number, limit: number): Promise<PartBatch[]> {
    const rows = await this.batchTable().find({
      where: { responseId, number: MoreThan(after) },
      order: { number: 'ASC' },
      take: limit,
    });
    return rows.map(({ number, parts }) => ({ number, parts: parts as readonly ResponsePart[] }));
  }

  finish(id: string, run: number, { status, output, usage, failure }: ResponseEnd, at: Date): Promise<boolean> {
    const change = { status, output: output as object, usage, failure, finishedAt: at, task: null };
    return changesOne(
      this.table()
        .createQueryBuilder()
        .update({ ...change, storedBytes: plus(bytesOf({ output })) })
        .where({ id, run, status: OPEN })
        .execute(),
    );
  }
}

const inProjects = (projects: ResponseKey['projects']) => (projects ? { projectId: In([...projects]) } : {});
const ofKey = ({ id, accountId, projects }: ResponseKey) => ({ id, accountId, ...inProjects(projects) });

/** Returns the bytes that a quota counts for the JSON of the values. */
const bytesOf = (values: object): number => textBytes(JSON.stringify(values));
