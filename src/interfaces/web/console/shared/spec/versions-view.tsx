import { useState } from 'preact/hooks';
import { can } from '../account.js';
import { confirmAct } from '../dialog.js';
import { SelectField } from '../form.js';
import { usePeople } from '../people.js';
import { type PagedQuery, useQuery } from '../query.js';
import { link, path, query, setQuery } from '../router.js';
import { Loaded, Time } from '../states.js';
import { More } from '../table.js';
import { toastError } from '../toasts.js';
import { DiffView } from './diff-view.js';
import { contentOf, type Saved, writtenOut } from './spec-draft.js';

export interface VersionEntry {
  readonly id: string;
  readonly version: number;
  readonly created_at: number;
  readonly created_by: string;
}

const PAGE = 50;

/** Returns the query for a page of versions. */
export const versionPage = (cursor: string | null) => ({ limit: PAGE, ...(cursor && { cursor: Number(cursor) }) });

/** Returns a page of versions in the form for `usePaged`. */
export const versionsOf = (page: {
  versions: readonly Omit<VersionEntry, 'id'>[];
  next_cursor: string | null;
}): { items: readonly VersionEntry[]; next: string | null } => ({
  items: page.versions.map((entry) => ({ ...entry, id: String(entry.version) })),
  next: page.next_cursor,
});

/**
 * Lists versions, newest first. Compares the version `version` of the address with the version `against`, or with the
 * version before. `restore` saves an old version as the newest.
 */
export function VersionsView(props: {
  thing: string;
  versions: PagedQuery<VersionEntry>;
  load: (version: number) => Promise<Saved>;
  restore?: (version: Saved) => Promise<unknown>;
}) {
  const { thing, versions, load, restore } = props;
  const nameOf = usePeople();
  const newest = versions.data?.[0]?.version;
  const version = Number(query.value.get('version')) || newest;
  return (
    <Loaded query={versions} what="the versions">
      {(entries) => (
        <div class="versions">
          <nav class="stack" aria-label="Versions">
            <ol class="versions-list">
              {entries.map((entry) => (
                <li key={entry.id}>
                  <a
                    href={link(path.value, { version: entry.version })}
                    aria-current={entry.version === version ? 'true' : undefined}
                  >
                    <strong>Version {entry.version}</strong>
                    <span class="hint">
                      <Time at={entry.created_at} /> by {nameOf(entry.created_by)}
                    </span>
                  </a>
                </li>
              ))}
            </ol>
            <More query={versions} />
          </nav>
          {version && newest && (
            <Comparison
              thing={thing}
              version={version}
              known={entries.map((entry) => entry.version)}
              load={load}
              {...(restore && { restore })}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}

function Comparison(props: {
  thing: string;
  version: number;
  /** The versions of the list, newest first. */
  known: readonly number[];
  load: (version: number) => Promise<Saved>;
  restore?: (version: Saved) => Promise<unknown>;
}) {
  const { thing, version, known, load, restore } = props;
  const newest = known[0] ?? version;
  const [busy, setBusy] = useState(false);
  const chosen = Number(query.value.get('against'));
  const against = chosen > 0 && chosen <= newest ? chosen : version - 1;
  const one = useQuery(`${thing} version ${version}`, () => load(version));
  const other = useQuery(against > 0 ? `${thing} version ${against}` : null, () => load(against));
  const goBack = async (old: Saved) => {
    const sure = await confirmAct({
      title: `Restore version ${version}?`,
      text: `It is saved again, as version ${newest + 1}. Version ${newest} stays in the history.`,
      act: 'Restore',
    });
    if (!sure) return;
    setBusy(true);
    await restore?.(old).catch(toastError);
    setBusy(false);
  };
  const others = [...new Set([...known, version - 1, against])]
    .filter((number) => number > 0 && number !== version)
    .sort((a, b) => b - a);
  return (
    <section class="stack" aria-label={`Version ${version}`}>
      <div class="versions-head">
        <h2>Version {version}</h2>
        <div class="actions">
          {restore && version < newest && can('edit_workspace') && (
            <button
              type="button"
              class="button"
              disabled={busy || !one.data}
              onClick={() => one.data && void goBack(one.data)}
            >
              {busy ? 'Restoring …' : 'Restore this version'}
            </button>
          )}
        </div>
      </div>
      {others.length > 0 && (
        <SelectField
          label="Compared with"
          value={against > 0 ? String(against) : ''}
          options={[
            ...(against > 0 ? [] : [['', 'Nothing: it is the first'] as const]),
            ...others.map((number) => [String(number), named(number, version, newest)] as const),
          ]}
          onInput={(event) => setQuery({ version, against: event.currentTarget.value })}
        />
      )}
      <Loaded query={one} what="the version">
        {(shown) => {
          if (against < 1) return <pre>{writtenOut(contentOf(shown))}</pre>;
          return (
            <Loaded query={other} what="the version to compare with">
              {(before) => (
                <DiffView
                  label={`Version ${version} against version ${against}`}
                  before={writtenOut(contentOf(before))}
                  after={writtenOut(contentOf(shown))}
                />
              )}
            </Loaded>
          );
        }}
      </Loaded>
    </section>
  );
}

const named = (number: number, version: number, newest: number): string =>
  `Version ${number}${number === version - 1 ? ', the one before' : number === newest ? ', the newest' : ''}`;
