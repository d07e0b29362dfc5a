import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Field, SelectField } from '../../shared/form.js';
import { formatClock, formatTime } from '../../shared/format.js';
import { Frame } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded } from '../../shared/states.js';
import { secondsIn, TimeField } from '../../shared/time-field.js';
import { type LogLine, levels, readLines, readsLog, summaryOf } from './log-lines.js';

const EVERY_MS = 5_000;
/** The most lines of an answer, and so the most rows of the page. */
const MOST_LINES = 500;
/** A list that is scrolled this close to its end follows new lines. */
const NEAR_END_PX = 40;

export function Logs() {
  const level = levels.find((known) => known === query.value.get('level'));
  const requestId = query.value.get('request_id') ?? '';
  const jobId = query.value.get('job_id') ?? '';
  const [from, to] = [secondsIn('from'), secondsIn('to')];
  const [paused, pause] = useState(false);
  const filter = {
    tail: MOST_LINES,
    ...(jobId && { job_id: jobId }),
    ...(requestId && { request_id: requestId }),
    level,
    q: searchText(),
    ...(from !== null && { from: String(from) }),
    ...(to !== null && { to: String(to) }),
  };
  const log = useQuery(
    `log ${JSON.stringify(filter)}`,
    () => answer(api.GET('/v1/logs', { params: { query: filter } })),
    { everyMs: paused ? null : EVERY_MS },
  );
  const clear = () => setQuery({ level: null, request_id: null, job_id: null, q: null, from: null, to: null });
  return (
    <Frame
      title="Logs"
      about="The newest lines of the log, without the calls that read it."
      actions={
        <button type="button" class="button" aria-pressed={paused} onClick={() => pause(!paused)}>
          <Icon name={paused ? 'play' : 'stop'} /> {paused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      <div class="filters logs-filters">
        <SearchField placeholder="Any text" />
        <SelectField
          label="Level"
          value={level ?? ''}
          options={[
            ['', 'Any'],
            ['error', 'errors'],
            ['warn', 'warnings and errors'],
            ['info', 'information and above'],
          ]}
          onChange={(event) => setQuery({ level: event.currentTarget.value })}
        />
        <Field
          label="Request id"
          value={requestId}
          placeholder="req_…"
          maxLength={64}
          onChange={(event) => setQuery({ request_id: event.currentTarget.value.trim() })}
        />
        <Field
          label="Job id"
          value={jobId}
          placeholder="job_…"
          maxLength={64}
          onChange={(event) => setQuery({ job_id: event.currentTarget.value.trim() })}
        />
        <TimeField label="From" name="from" />
        <TimeField label="To" name="to" />
      </div>
      <Loaded query={log} what="the log">
        {({ lines }) =>
          lines.length > 0 ? (
            <Lines texts={lines} />
          ) : (
            <Empty icon="logs" title="No line fits these filters">
              <button type="button" class="button" onClick={clear}>
                Show all lines
              </button>
            </Empty>
          )
        }
      </Loaded>
    </Frame>
  );
}

/** Shows the lines, the newest last. If the reader has scrolled up, new lines do not move the list. */
function Lines({ texts }: { texts: readonly string[] }) {
  const lines = useMemo(() => readLines(texts).filter((line) => !readsLog(line)), [texts]);
  const list = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  const onScroll = ({ currentTarget: at }: { currentTarget: HTMLElement }) => {
    follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END_PX;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element.
    <section ref={list} class="logs-lines" aria-label="Lines, newest last" tabIndex={0} onScroll={onScroll}>
      {lines.map((line) => (
        <Line key={line.key} line={line} />
      ))}
    </section>
  );
}

function Line({ line }: { line: LogLine }) {
  const [open, setOpen] = useState(false);
  const { level, time, event } = line;
  return (
    <details class={`logs-line ${level ?? ''}`} onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary>
        {time !== null && <time dateTime={new Date(time * 1000).toISOString()}>{formatClock(time)}</time>}
        <span class="logs-level">{level}</span>
        <span class="logs-event">
          {event} <span class="hint">{summaryOf(line)}</span>
        </span>
      </summary>
      {open && <Fields line={line} />}
    </details>
  );
}

const Fields = ({ line: { time, fields, text } }: { line: LogLine }) => (
  <div class="logs-fields">
    <dl class="facts">
      {time !== null && (
        <>
          <dt>time</dt>
          <dd>{formatTime(time)}</dd>
        </>
      )}
      {fields.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>
            <FieldValue name={name} value={value} />
          </dd>
        </>
      ))}
    </dl>
    <CopyButton text={text} label="Copy line" />
  </div>
);

function FieldValue({ name, value }: { name: string; value: string }) {
  if (name === 'request_id') return <a href={link('/logs', { request_id: value })}>{value}</a>;
  if (name === 'job_id') return <a href={link(`/jobs/${value}`)}>{value}</a>;
  return <code>{value}</code>;
}
