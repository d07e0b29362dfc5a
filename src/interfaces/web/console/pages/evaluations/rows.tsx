import { useState } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration, plural } from '../../shared/format.js';
import { query, setQuery } from '../../shared/router.js';
import { Empty } from '../../shared/states.js';
import { groupName, pick, type Result, textOf, type Wanted } from './summary.js';

const SHOWN = 50;
/** The number of characters of a text that are shown at first. */
const LONG = 1_000;

/** Loads all rows of an evaluation, in pages of the maximal length. There are at most 500 rows, one for each record. */
export async function loadRows(job: string): Promise<readonly Result[]> {
  const rows: Result[] = [];
  for (let cursor: number | undefined; ; ) {
    const params = { path: { job_id: job }, query: { limit: 1000, cursor } };
    const page = await answer(api.GET('/v1/jobs/{job_id}/results', { params }));
    rows.push(...page.results);
    if (page.next_cursor === null) return rows;
    cursor = Number(page.next_cursor);
  }
}

export function Rows({ rows }: { rows: readonly Result[] }) {
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
      </p>
      {shown.length === 0 ? (
        <Empty icon="evaluations" title={rows.length === 0 ? 'No record is scored yet' : 'No row fits'} />
      ) : (
        <ul class="evaluation-rows">
          {shown.slice(0, most).map((row) => (
            <Row key={row.record_id} row={row} />
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

function Row({ row }: { row: Result }) {
  const { record_id, group, input, expected, output, score, latency, tokens, error } = row;
  return (
    <li>
      <header class="evaluation-row-head">
        <Verdict right={score === 1} error={error !== null} />
        <strong>{record_id}</strong>
        {group !== null && <span class="badge">{group}</span>}
        <span class="hint evaluation-cost">
          {formatDuration(latency)}
          {tokens && `, ${plural(tokens.prompt + tokens.completion, 'token')}`}
        </span>
      </header>
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
