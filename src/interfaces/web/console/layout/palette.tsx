import { useState } from 'preact/hooks';
import { pages } from '../pages.js';
import { can } from '../shared/account.js';
import { answer, api, type Schemas } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import { formatNumber } from '../shared/format.js';
import type { Command } from '../shared/page.js';
import { useQuery } from '../shared/query.js';
import { link, navigate } from '../shared/router.js';

const MOST_SHOWN = 12;
const MOST_PAGES = 3;

const goTo = (title: string, hint: string, href: string): Command => ({ title, hint, run: () => navigate(href) });

/** Reads the projects, at most MOST_PAGES pages of 1,000. */
async function readProjects(): Promise<{ projects: Schemas['Project'][]; hasMore: boolean }> {
  const projects: Schemas['Project'][] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await answer(api.GET('/v1/projects', { params: { query: { cursor } } }));
    projects.push(...page.projects);
    if (page.next_cursor === null) return { projects, hasMore: false };
    cursor = page.next_cursor;
  }
  return { projects, hasMore: true };
}

/** Returns the commands that go to a place: the pages, and after something was typed also projects and deployments. */
function useCommands(isTyped: boolean) {
  const projects = useQuery(isTyped && can('read_workspace') ? 'projects to find' : null, readProjects);
  const deployments = useQuery(isTyped && can('read_monitoring') ? 'deployments' : null, () =>
    answer(api.GET('/v1/deployments')),
  );
  const commands: readonly Command[] = [
    ...pages
      .filter(({ path, needs }) => !path.includes(':') && (!needs || can(needs)))
      .map(({ title, path }) => goTo(title, 'page', link(path))),
    ...(projects.data?.projects ?? []).flatMap(({ id, name }) => [
      goTo(name, 'project', link(`/projects/${id}`)),
      goTo(`Chat with ${name}`, 'playground', link('/playground', { project: id })),
    ]),
    ...(deployments.data?.deployments ?? []).map(({ id, name }) =>
      goTo(name, 'deployment', link(`/deployments/${id}`)),
    ),
  ];
  return {
    commands,
    isLoading: [projects, deployments].some(({ data, loading }) => loading && !data),
    /** The number of searched projects if there are more projects, otherwise null. */
    searched: projects.data?.hasMore ? projects.data.projects.length : null,
  };
}

/** Finds pages, projects and deployments by name. The arrow keys choose an entry, and Enter opens it. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const { commands, isLoading, searched } = useCommands(words.length > 0);
  const found = commands
    .filter(({ title, hint }) => words.every((word) => `${title} ${hint ?? ''}`.toLowerCase().includes(word)))
    .slice(0, MOST_SHOWN);
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
    if (event.key === 'Enter') go(found[chosen]);
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        class="palette-input"
        role="combobox"
        placeholder="A page, a project or an action"
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
            key={`${command.hint}${command.title}`}
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
      {found.length === 0 && <p class="hint">{isLoading ? 'Searching …' : 'Nothing has this name.'}</p>}
      {searched && <p class="hint">Only the newest {formatNumber(searched)} projects are searched.</p>}
    </Dialog>
  );
}
