import { useEffect, useState } from 'preact/hooks';
import { pages } from '../pages.js';
import { can } from '../shared/account.js';
import { answer, api, type Schemas } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import type { Command } from '../shared/page.js';
import { useQuery } from '../shared/query.js';
import { link } from '../shared/router.js';
import { useSettled } from '../shared/search-field.js';
import { actions, goTo } from './actions.js';

/** The most entries of each kind, so that no kind hides the others. */
const MOST_OF_A_KIND = 6;
const MOST_SHOWN = 24;
const MOST_SEARCHED = 20;
/** Words that entries have beside the names of objects. */
const NO_NAMES = new Set(['chat', 'with', 'of', 'project', 'dataset', 'model', 'job', 'playground', 'calls']);

const fits = (words: readonly string[], { title, hint }: Pick<Command, 'title' | 'hint'>) =>
  words.every((word) => `${title} ${hint ?? ''}`.toLowerCase().includes(word));

/**
 * Returns the commands that fit the words. The service searches for the longest word that may be of a name. The other words
 * may be of the kind of the object, such as `dataset`.
 */
function useCommands(words: readonly string[], openHelp: () => void) {
  const names = words.filter((word) => !NO_NAMES.has(word));
  const longest = (names.length > 0 ? names : words).toSorted((a, b) => b.length - a.length)[0]?.slice(0, 100) ?? '';
  const q = useSettled(longest);
  const others = words.filter((word) => word !== longest);
  const objects = useQuery(q && can('read_workspace') ? `find ${q}` : null, () =>
    answer(api.GET('/v1/search', { params: { query: { q, limit: MOST_SEARCHED } } })),
  );
  const jobs = useQuery(q && can('read_jobs') ? `find jobs ${q}` : null, () =>
    answer(api.GET('/v1/jobs', { params: { query: { q, limit: MOST_SEARCHED } } })),
  );
  const deployments = useQuery(q && can('read_monitoring') ? 'deployments' : null, () =>
    answer(api.GET('/v1/deployments')),
  );
  const found = [
    ...(objects.data?.found ?? []).flatMap(commandsOf),
    ...(jobs.data?.jobs ?? []).map(({ id, name, kind }) => goTo(name ?? kind, 'job', link(`/jobs/${id}`))),
  ].filter((command) => fits(others, command));
  const isJob = /^job_[0-9a-f-]+$/.test(words[0] ?? '') && can('read_jobs');
  const known = [
    ...pages
      .filter(({ path, needs }) => !path.includes(':') && (!needs || can(needs)))
      .map(({ title, path }) => goTo(title, 'page', link(path))),
    ...actions(openHelp),
    ...(deployments.data?.deployments ?? []).map(({ id, name }) =>
      goTo(name, 'deployment', link(`/deployments/${id}`)),
    ),
  ].filter((command) => fits(words, command));
  const byTitle = known.filter(({ title }) => fits(words, { title }));
  const isLoading = q !== longest || [objects, jobs, deployments].some(({ data, loading }) => loading && !data);
  const job = isJob ? [goTo(words[0] as string, 'job', link(`/jobs/${words[0]}`))] : [];
  return {
    commands: atMost([...job, ...byTitle, ...(longest ? found : []), ...known.filter((one) => !byTitle.includes(one))]),
    isLoading,
  };
}

function commandsOf({ kind, id, name, project_id: project, project_name }: Schemas['FoundObject']): Command[] {
  if (kind === 'project')
    return [
      goTo(name ?? id, 'project', link(`/projects/${id}`)),
      goTo(`Chat with ${name}`, 'playground', link('/playground', { project: id })),
      goTo(`Calls of ${name}`, 'calls', link(`/projects/${id}/calls`)),
    ];
  return [goTo(name ?? `…${id.slice(-6)}`, `${kind} of ${project_name}`, link(`/projects/${project}/${kind}s/${id}`))];
}

/** Leaves out what exceeds the limits. The first word of the hint is the kind. */
function atMost(commands: readonly Command[]): readonly Command[] {
  const counts = new Map<string, number>();
  const kept = commands.filter(({ hint = '' }) => {
    const kind = hint.split(' ')[0] as string;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return ['page', 'action'].includes(kind) || (counts.get(kind) ?? 0) <= MOST_OF_A_KIND;
  });
  return kept.slice(0, MOST_SHOWN);
}

/** Finds pages, actions, projects, datasets, models, deployments and jobs by name. The arrow keys choose an entry, and Enter opens it. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const { commands: found, isLoading } = useCommands(words, onHelp);
  useEffect(() => document.getElementById(`palette-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const go = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + found.length) % found.length);
    }
    if (event.key !== 'Enter') return;
    event.preventDefault(); // The key must not submit a form that the command opens.
    go(found[chosen]);
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        class="palette-input"
        role="combobox"
        placeholder="A page, an action, or the name of anything"
        aria-label="Find a page or an action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[chosen] && `palette-${chosen}`}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Found">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys.
          <div
            key={`${command.hint}${command.title}${index}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(command)}
          >
            {command.title} {command.hint && <span class="hint">{command.hint}</span>}
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {isLoading ? 'Searching …' : found.length === 0 && 'Nothing has this name.'}
      </p>
    </Dialog>
  );
}
