import { useMemo } from 'preact/hooks';
import { CopyButton } from '../../shared/copy-button.js';
import { formatDuration, formatNumber } from '../../shared/format.js';
import { Choices } from '../../shared/frame.js';
import { query } from '../../shared/router.js';
import { Table } from '../../shared/table.js';
import { type OutputTable, outputsOf, tablesOf } from './tensors.js';

export interface Prediction {
  /** The unchanged answer of the service. */
  readonly text: string;
  readonly seconds: number;
}

const MOST_SHOWN = 20_000;

export function PredictionResult({ prediction: { text, seconds } }: { prediction: Prediction }) {
  const tables = useMemo(() => tablesOf(outputsOf(text)), [text]);
  return (
    <section class="stack" aria-label="Answer">
      <div class="actions start">
        <p role="status">Answered in {formatDuration(seconds)}.</p>
        <Choices
          label="Form of the answer"
          name="answer"
          options={[
            ['table', 'Table'],
            ['json', 'JSON'],
          ]}
        />
      </div>
      {query.value.get('answer') === 'json' ? (
        <AnswerText text={text} />
      ) : (
        tables.map((table) => <AnswerTable key={table.columns.join()} table={table} />)
      )}
    </section>
  );
}

function AnswerTable({ table: { columns, rows, all } }: { table: OutputTable }) {
  const values = columns.map((title, at) => ({ title, numeric: true, cell: (row: readonly string[]) => row[at] }));
  const number = { title: 'Row', cell: (row: readonly string[]) => rows.indexOf(row) + 1 };
  const isCut = all.rows > rows.length || all.columns > columns.length;
  return (
    <div>
      <Table
        label={`Outputs ${columns.join(', ')}`}
        columns={rows.length > 1 ? [number, ...values] : values}
        rows={rows}
        rowKey={(row) => String(rows.indexOf(row))}
      />
      {isCut && (
        <p class="hint">
          {`The table shows the first of ${formatNumber(all.rows)} rows and ${formatNumber(all.columns)} columns. JSON has all.`}
        </p>
      )}
    </div>
  );
}

const AnswerText = ({ text }: { text: string }) => (
  <div class="stack">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element. */}
    <section class="deployments-output" tabIndex={0} aria-label="Answer as JSON">
      <pre>{text.slice(0, MOST_SHOWN)}</pre>
    </section>
    <div class="actions start">
      <CopyButton text={text} />
      {text.length > MOST_SHOWN && <span class="hint">Only the beginning is shown. The copy has all.</span>}
    </div>
  </div>
);
