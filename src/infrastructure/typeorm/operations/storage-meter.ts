import { injectable } from 'inversify';
import type { MeasuredQuota, StorageMeter, StorageOwner } from '../../../application/operations/ports.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** Returns an expression for an amount. `value` adds a value to the statement and returns its placeholder. */
type Amount = (owner: StorageOwner, value: (text: string | null) => string) => string;

const AMOUNTS: Readonly<Record<MeasuredQuota, Amount>> = {
  projects: ({ teamId }, value) => `SELECT count(*) FROM projects WHERE team_id = ${value(teamId)}`,
  workspaceBytes: ({ teamId }, value) => {
    const team = value(teamId);
    const within = (table: string) =>
      `SELECT coalesce(sum(one.stored_bytes), 0) FROM projects p JOIN ${table} one ON one.project_id = p.id WHERE p.team_id = ${team}`;
    const own = `SELECT coalesce(sum(stored_bytes), 0) FROM projects WHERE team_id = ${team}`;
    return `SELECT (${own}) + (${within('models')}) + (${within('datasets')})`;
  },
  conversationBytes: ({ accountId }, value) =>
    `SELECT coalesce(sum(stored_bytes), 0) FROM conversations WHERE account_id = ${value(accountId)}`,
  responseBytes: ({ accountId }, value) =>
    `SELECT coalesce(sum(stored_bytes), 0) FROM responses WHERE account_id = ${value(accountId)}`,
  externalJobs: ({ teamId }, value) =>
    `SELECT count(*) FROM jobs WHERE kind = 'external' AND team_id ${teamId === null ? 'IS NULL' : `= ${value(teamId)}`}`,
};

/** Adds up small figures that each object stores about itself, and that its index finds. */
@injectable()
export class TypeOrmStorageMeter implements StorageMeter {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async measure<Name extends MeasuredQuota>(
    owner: StorageOwner,
    names: readonly Name[],
  ): Promise<Record<Name, number>> {
    const values: (string | null)[] = [];
    const placeholder = (text: string | null) => `$${values.push(text)}`;
    const columns = names.map((name) => `(${AMOUNTS[name](owner, placeholder)}) AS "${name}"`);
    const [row] = await this.unitOfWork.query<Record<Name, string>>(`SELECT ${columns.join(', ')}`, values);
    return Object.fromEntries(names.map((name) => [name, Number(row?.[name])])) as Record<Name, number>;
  }
}
