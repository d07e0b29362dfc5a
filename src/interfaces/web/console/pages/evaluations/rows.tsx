import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration, plural } from '../../shared/format.js';
import { link, query, setQuery } from '../../shared/router.js';
import { isObject } from '../../shared/spec/fields.js';
import { Empty } from '../../shared/states.js';
import { keyOf } from '../datasets/changes.js';
import { AddRow } from './add-row.js';
import { groupName, type Job, pick, type Result, summaryOf, textOf, type Wanted } from './summary.js';

const SHOWN = 50;
/** The number of characters of a text that are shown at first. */
const LONG = 1_000;

/** The rows that the page has. The export has all of them. */
const MOST_ROWS = 2_000;

/** Loads the first rows of an evaluation, in pages of the maximal length. */
export async function loadRows(job: string): Promise<readonly Result[]> {
  const rows: Result[] = [];
  for (let cursor: number | undefined; ; ) {
    const params = { path: { job_id: job }, query: { limit: 1000, cursor } };
    const page = await answer(api.GET('/v1/jobs/{job_id}/results', { params }));
    rows.push(...page.results);
    if (page.next_cursor === null || rows.length >= MOST_ROWS) return rows;
    cursor = Number(page.next_cursor);
  }
}

export function Rows({ job, rows }: { job: Job; rows: readonly Result[] }) {
  const [most, setMost] = useState(SHOWN);
  const parameters = query.value;
  const wanted = (parameters.get('rows') ?? 'all') as Wanted;
  const text = parameters.get('find') ?? '';
  const shown = pick(rows, { wanted, group: parameters.get('group'), text });
  const groups = [...new Set(rows.map(({ group }) => group))];
  const errors = rows.filter(({ error }) => error !== null).length;
  const wrong = rows.filter(({ score }) => score === 0).length;
  return (
    <>
      <div class="evaluation-filters">
        <SelectField
          label="Show"
          value={wanted}
          options={[
            ['all', `All (${rows.length})`],
            ['wrong', `Wrong only (${wrong})`],
            ['right', `Right only (${rows.length - wrong})`],
            ['errors', `Errors only (${errors})`],
          ]}
          onChange={(event) =>
            setQuery({ rows: event.currentTarget.value === 'all' ? null : event.currentTarget.value })
          }
        />
        {groups.length > 1 && (
          <SelectField
            label="Group"
            value={parameters.get('group') ?? ''}
            options={[['', 'All groups'], ...groups.map((group) => [groupName(group), groupName(group)] as const)]}
            onChange={(event) => setQuery({ group: event.currentTarget.value || null })}
          />
        )}
        <div class="field">
          <label for="evaluation-find">Find</label>
          <input
            id="evaluation-find"
            type="search"
            value={text}
            onInput={(event) => setQuery({ find: event.currentTarget.value || null })}
          />
        </div>
      </div>
      <p class="hint" role="status">
        {shown.length === rows.length ? plural(rows.length, 'row') : `${shown.length} of ${plural(rows.length, 'row')}`}
        {(job.progress?.done ?? 0) > rows.length && rows.length >= MOST_ROWS && ' (the first ones: export has all)'}
      </p>
      {shown.length === 0 ? (
        <Empty icon="evaluations" title={rows.length === 0 ? 'No record is scored yet' : 'No row fits'} />
      ) : (
        <ul class="evaluation-rows">
          {shown.slice(0, most).map((row) => (
            <Row key={row.record_id} job={job} row={row} />
          ))}
        </ul>
      )}
      {shown.length > most && (
        <div class="actions start">
          <button type="button" class="button" onClick={() => setMost(most + SHOWN)}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

function Row({ job, row }: { job: Job; row: Result }) {
  const { input, expected, output, score, latency, tokens, error } = row;
  return (
    <li>
      <RowHead job={job} row={row}>
        <Verdict right={score === 1} error={error !== null} />
        <span class="hint">
          {formatDuration(latency)}
          {tokens && `, ${plural(tokens.prompt + tokens.completion, 'token')}`}
        </span>
      </RowHead>
      <div class="evaluation-texts">
        <Text title="Input" text={textOf(input)} />
        <Text title="Expected" text={textOf(expected)} />
        {error === null ? (
          <Text title="Output" text={output ?? ''} tone={score === 1 ? 'right' : 'wrong'} />
        ) : (
          <Text title="Error" text={error} tone="wrong" />
        )}
      </div>
    </li>
  );
}

/** Returns the link to a record in the version of the dataset that the evaluation used. */
function recordLink(job: Job, record: string): string {
  const version = summaryOf(job)?.dataset.version; // Without a summary, the frozen dataset has one version only.
  return link(`/projects/${job.project_id}/datasets/${job.dataset_id}`, { version, record: keyOf(record) });
}

/** Returns the link to the playground with the question that the evaluation sent for this input. */
const askLink = ({ project_id }: Job, input: unknown): string =>
  link('/playground', { project: project_id, question: questionOf(input) });

/** Returns an input as the evaluation sends it: a text, or JSON with sorted keys. */
const questionOf = (input: unknown): string =>
  typeof input === 'string'
    ? input
    : JSON.stringify(input, (_, value) => (isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value));

/** Shows what a row is about, with links to its record and to a chat with its question. */
export const RowHead = ({ job, row, children }: { job: Job; row: Result; children: ComponentChildren }) => (
  <header class="evaluation-row-head">
    <a href={recordLink(job, row.record_id)}>{row.record_id}</a>
    {row.group !== null && <span class="badge">{row.group}</span>}
    {children}
    <span class="evaluation-acts">
      {can('edit_workspace') && <AddRow job={job} row={row} />}
      {can('chat') && (
        <a class="button small" href={askLink(job, row.input)}>
          Ask in the playground
        </a>
      )}
    </span>
  </header>
);

const Verdict = ({ right, error = false }: { right: boolean; error?: boolean }) => (
  <span class={`state ${right ? 'good' : 'bad'}`}>{error ? 'error' : right ? 'right' : 'wrong'}</span>
);

/** Shows a text of a row. The end of a long text is shown after a click. */
export function Text(props: { title: string; text: string; tone?: 'right' | 'wrong' }) {
  const { title, text, tone = '' } = props;
  const [whole, setWhole] = useState(text.length <= LONG);
  return (
    <div class={`evaluation-text ${tone}`}>
      <span class="hint">{title}</span>
      {text === '' ? <p class="hint">empty</p> : <p dir="auto">{whole ? text : `${text.slice(0, LONG)} …`}</p>}
      {!whole && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </div>
  );
}
