import { CopyButton } from '../../shared/copy-button.js';
import { formatDuration } from '../../shared/format.js';
import { Choices } from '../../shared/frame.js';
import { query } from '../../shared/router.js';
import { Table } from '../../shared/table.js';
import { type OutputTable, type OutputTensor, tablesOf } from './tensors.js';

export interface Prediction {
  readonly outputs: Readonly<Record<string, OutputTensor>>;
  readonly seconds: number;
}

const MOST_SHOWN = 20_000;

/** The outputs of a prediction as tables, a row for each sample, or as JSON. */
export function PredictionResult({ prediction: { outputs, seconds } }: { prediction: Prediction }) {
  const asJson = query.value.get('answer') === 'json';
  return (
    <section class="stack" aria-label="Answer">
      <p role="status">Answered in {formatDuration(seconds)}.</p>
      <Choices
        label="Form of the answer"
        name="answer"
        options={[
          ['table', 'Table'],
          ['json', 'JSON'],
        ]}
      />
      {asJson ? (
        <AnswerText text={JSON.stringify(outputs, null, 1)} />
      ) : (
        tablesOf(outputs).map((table) => <AnswerTable key={table.columns.join()} table={table} />)
      )}
    </section>
  );
}

const AnswerTable = ({ table: { columns, rows, leftOut } }: { table: OutputTable }) => (
  <div>
    <Table
      label={`Outputs ${columns.join(', ')}`}
      columns={columns.map((title, at) => ({ title, numeric: true, cell: (row: readonly string[]) => row[at] }))}
      rows={rows}
      rowKey={(row) => String(rows.indexOf(row))}
    />
    {leftOut && <p class="hint">The table shows {leftOut}. JSON has all.</p>}
  </div>
);

const AnswerText = ({ text }: { text: string }) => (
  <div class="stack">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
    <section class="deployments-output" tabIndex={0} aria-label="Answer as JSON">
      <pre>{text.slice(0, MOST_SHOWN)}</pre>
    </section>
    <div class="actions start">
      <CopyButton text={text} />
      {text.length > MOST_SHOWN && <span class="hint">Only the beginning is shown. The copy has all.</span>}
    </div>
  </div>
);
