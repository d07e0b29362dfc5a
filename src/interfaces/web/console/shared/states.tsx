import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { forUser } from './account.js';
import type { ApiError, Finding } from './api.js';
import { CopyButton } from './copy-button.js';
import { formatAgo, formatTime } from './format.js';
import { Icon, type IconName } from './icon.js';
import type { Query } from './query.js';
import { link, listAbove, path } from './router.js';

const WORDS_AFTER_MS = 400;

/**
 * Draws grey bars in the place of a list or a panel that is being loaded. If it takes noticeably long, screen readers say
 * what is being loaded. The place is as high from the first moment on, so that nothing moves while it is loaded.
 */
export function Loading({ what, bars = 4 }: { what: string; bars?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), WORDS_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading">
      <p class="unseen" role="status">
        {late && `Loading ${what} …`}
      </p>
      {Array.from({ length: bars }, (_, index) => (
        <span key={index} class="loading-bar" aria-hidden="true" />
      ))}
    </div>
  );
}

/** Shows an error of the service, its findings and its request id. `onPath` goes to the field of a finding. */
export function ErrorNote(props: {
  error: ApiError;
  details?: readonly Finding[];
  onRetry?: () => void;
  onPath?: (path: string) => void;
  /** More links and buttons, beside the one that tries again. */
  children?: ComponentChildren;
}) {
  const { error, details = error.details, onRetry, onPath, children } = props;
  const repeatsFinding = ['invalid_request', 'quota_exceeded'].includes(error.code) && details.length > 0;
  return (
    <div class="note bad" role="alert">
      {!repeatsFinding && <p>{forUser(error.message)}</p>}
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={path + message}>
              {path && onPath ? (
                <button type="button" class="jump" onClick={() => onPath(path)}>
                  {path}
                </button>
              ) : (
                path && <code>{path}</code>
              )}{' '}
              {forUser(message)}
            </li>
          ))}
        </ul>
      )}
      <div class="actions start">
        {onRetry && (
          <button type="button" class="button small" onClick={onRetry}>
            Try again
          </button>
        )}
        {children}
        {error.requestId && <CopyButton text={error.requestId} label="Copy request id" />}
      </div>
    </div>
  );
}

/** Shows why a query failed, with a button that tries again. If the object is missing, shows a link to its list. */
export function QueryError<T>(props: { query: Query<T>; remedies?: ComponentChildren }) {
  const { error, reload } = props.query;
  if (!error) return null;
  if (error.status !== 404) {
    return (
      <ErrorNote error={error} onRetry={() => void reload()}>
        {props.remedies}
      </ErrorNote>
    );
  }
  const list = listAbove(path.value);
  return (
    <ErrorNote error={error}>
      {list && (
        <a class="button small" href={link(list)}>
          All {list.split('/').at(-1)}
        </a>
      )}
    </ErrorNote>
  );
}

/** Draws an answer with `children`. Before there is an answer, shows that it is being loaded, or why it failed. */
export function Loaded<T>(props: {
  query: Query<T>;
  what: string;
  /** More buttons for an object that cannot be shown, such as one that deletes it. */
  remedies?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}) {
  const { query, what, remedies, children } = props;
  const failed = query.error && <QueryError query={query} remedies={query.data === undefined && remedies} />;
  if (query.data === undefined) return failed ?? <Loading what={what} />;
  return (
    <>
      {failed}
      {children(query.data)}
    </>
  );
}

export const Empty = ({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name={icon} />
    <p class="empty-title">{title}</p>
    {children}
  </div>
);

/** The colours of states of runtimes, deployments, jobs and alerts, by the attention that they need. */
const TONES: Readonly<Record<string, 'good' | 'busy' | 'bad' | 'warn'>> = {
  ready: 'good',
  running: 'good',
  succeeded: 'good',
  acked: 'good',
  registered: 'good',
  loading: 'busy',
  starting: 'busy',
  queued: 'busy',
  failed: 'bad',
  firing: 'bad',
  crash_looping: 'bad',
  unavailable: 'bad',
  P1: 'bad',
  P2: 'warn',
  unhealthy: 'warn',
  draining: 'warn',
};

const wordOf = (state: string) => (state === 'acked' ? 'acknowledged' : state.replaceAll('_', ' '));

export const State = ({ of: state, tone = TONES[state] }: { of: string; tone?: (typeof TONES)[string] }) => (
  <span class={`state ${tone ?? 'calm'}`}>{wordOf(state)}</span>
);

/** Shows the state of a job. A running job has another colour than one that has succeeded. */
export const JobState = ({ of: state }: { of: string }) => (
  <State of={state} tone={state === 'running' ? 'busy' : undefined} />
);

/** Shows a time relative to now. The tooltip has the full time. */
export const Time = ({ at }: { at: number }) => (
  <time dateTime={new Date(at * 1000).toISOString()} title={formatTime(at)}>
    {formatAgo(at)}
  </time>
);

export const Figure = ({ name, children, hint }: { name: string; children: ComponentChildren; hint?: string }) => (
  <div class="figure">
    <dt title={hint}>{name}</dt>
    <dd>{children}</dd>
  </div>
);
