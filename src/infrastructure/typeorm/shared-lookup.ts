import { turn } from '../../application/shared/turn.js';
import { PatientSharing } from './patient-sharing.js';
import type { TypeOrmUnitOfWork } from './typeorm-unit-of-work.js';

/** Statements of a lookup that are under way at once; more would each answer fewer questions. */
const AT_ONCE = 2;
const MOST_QUESTIONS = 100;

const sharing = new PatientSharing();

interface Question<Row> {
  readonly values: readonly unknown[];
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A lookup that nearly every call needs. Questions that come within a turn of the event loop, or while the database is
 * busy with earlier ones, go to it together, in one statement, so that many callers cost it little more than one. A
 * question is only ever answered by a statement that began after it was asked: no answer is older than its question.
 */
export class SharedLookup<Row> {
  private waiting: Question<Row>[] = [];
  private underWay = 0;
  private soon = false;

  /** `text` takes an array for each value of a question, and gives rows with the number of the question as `nth`. */
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly name: string,
    private readonly text: string,
  ) {}

  ask(...values: readonly unknown[]): Promise<Row | null> {
    if (this.unitOfWork.isRunning) return this.query([values]).then((rows) => rows.get(1) ?? null);
    return sharing.forOne((resolve, reject) => this.add({ values, resolve, reject }));
  }

  private add(question: Question<Row>): void {
    this.waiting.push(question);
    if (!this.soon) sharing.forMany(() => void turn().then(() => this.proceed()));
    this.soon = true;
  }

  private async proceed(): Promise<void> {
    this.soon = false;
    if (this.underWay >= AT_ONCE || this.waiting.length === 0) return;
    const questions = this.waiting.splice(0, MOST_QUESTIONS);
    this.underWay++;
    try {
      const rows = await this.query(questions.map(({ values }) => values));
      for (const [index, { resolve }] of questions.entries()) resolve(rows.get(index + 1) ?? null);
    } catch (error) {
      // What has waited behind it fails with it: where the database hangs, nobody waits for two time-outs.
      for (const { reject } of [...questions, ...this.waiting.splice(0)]) reject(error);
    }
    this.underWay--;
    void this.proceed();
  }

  private async query(questions: readonly (readonly unknown[])[]): Promise<Map<number, Row>> {
    const columns = (questions[0] ?? []).map((_, column) => questions.map((values) => values[column]));
    const rows = await this.unitOfWork.prepared<Row & { nth: string }>(this.name, this.text, columns);
    return new Map(rows.map(({ nth, ...row }) => [Number(nth), row as Row]));
  }
}
