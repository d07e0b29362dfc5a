import { injectable } from 'inversify';
import { Batches } from '../../system/batches.js';
import { NOT_DURABLE, TAKEN, type TakenRow, type Taking, takingKey, takingValues } from '../spend/taking.js';
import { refusesRows } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type End, EndStatement, type Together } from './end-statement.js';
import { inOrder } from './job.repository.js';

/** The most bytes of content in one statement. To index the words of more could take longer than a statement may. */
const CONTENT_AT_ONCE = 512 * 1024;

/** Ends with more content than this have batches of their own, because it takes time to index their words. */
const LARGE_CONTENT = 8 * 1024;

const WITHOUT_RULES = { durable: false, withoutRules: true };
const TAKE = `SELECT ${TAKEN}, ${NOT_DURABLE} FROM take_holds($1, $2, $3, $4, $5)`;

type Part = { readonly end: End } | { readonly taking: Taking };
/** The result of a part: for an end whether it is stored, for a taking its row. */
type Done = boolean | TakenRow;

/**
 * Lets calls of a team that begin or end at the same time share a statement. Under budgets they change the same rows, so
 * their own statements would wait for each other. A call that comes alone does not wait.
 */
@injectable()
export class CallBatches {
  private readonly statement: EndStatement;
  private readonly batches = new Batches<Part, Done>((parts) => this.run(parts), {
    most: CONTENT_AT_ONCE,
    weightOf: (part) => ('end' in part ? (part.end.kept?.bytes ?? 0) : 0),
  });

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {
    this.statement = new EndStatement(unitOfWork);
  }

  /** Stores the end of a call, if there is no alert rule. Returns whether it did. */
  async end(end: End): Promise<boolean> {
    const isLarge = (end.kept?.bytes ?? 0) > LARGE_CONTENT;
    const key = `${end.job.teamId} ${Boolean(end.charge)} ${isLarge}`;
    return this.batches.add(key, { end }).catch(async (error) => {
      if (!refusesRows(error)) throw error;
      // The database may have refused the row of another end, so this end is stored alone. If its kept part is refused, the
      // end is stored without it.
      const { ids } = await this.statement.run({ ends: [end] }, WITHOUT_RULES).catch((again) => {
        if (!refusesRows(again) || !end.kept) throw again;
        return this.statement.run({ ends: [{ ...end, kept: null }] }, WITHOUT_RULES);
      });
      return ids.has(end.job.id);
    }) as Promise<boolean>;
  }

  /** Takes the holds of a call. */
  async take(taking: Taking): Promise<TakenRow> {
    return this.batches.add(`${taking.spender.teamId} true false`, { taking }).catch(async (error) => {
      if (!refusesRows(error)) throw error;
      return (await this.takeAll([taking]))[0];
    }) as Promise<TakenRow>;
  }

  /**
   * Runs one statement for all ends and the first group of takings, and then one for each other group. If one of the
   * others fails, only the calls of its group fail.
   */
  private async run(parts: readonly Part[]): Promise<(Done | Promise<Done>)[]> {
    const ends = inOrder(
      parts.flatMap((part) => ('end' in part ? part.end : [])),
      ({ job }) => job.id,
    );
    const groups = new Map<string, Taking[]>();
    for (const part of parts) {
      if (!('taking' in part)) continue;
      const key = takingKey(part.taking);
      groups.set(key, [...(groups.get(key) ?? []), part.taking]);
    }
    const [first = [], ...later] = groups.values();
    const { ids, taken } = await this.endAndTake({ ends, takings: first });
    const rows = new Map<Taking, TakenRow | Promise<TakenRow>>();
    for (const [nth, taking] of first.entries()) rows.set(taking, taken[nth] as TakenRow);
    for (const group of later) {
      const others = this.takeAll(group);
      for (const [nth, taking] of group.entries())
        rows.set(
          taking,
          others.then((all) => all[nth] as TakenRow),
        );
    }
    return parts.map((part) => ('end' in part ? ids.has(part.end.job.id) : (rows.get(part.taking) as TakenRow)));
  }

  private async endAndTake(together: Required<Together>): Promise<{ ids: Set<string>; taken: TakenRow[] }> {
    if (together.ends.length > 0) return this.statement.run(together, WITHOUT_RULES);
    return { ids: new Set(), taken: await this.takeAll(together.takings) };
  }

  private takeAll(takings: readonly Taking[]): Promise<TakenRow[]> {
    return this.unitOfWork.prepared<TakenRow>('holds of calls', TAKE, takingValues(takings));
  }
}
