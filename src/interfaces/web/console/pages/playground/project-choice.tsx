import type { Status } from '../../shared/account.js';
import type { Side } from './columns.js';

export type Runtime = Status['runtimes'][number];

/** Lets the user choose the project of a column. Tells which projects can answer, and why others cannot. */
export function ProjectChoice(props: { label: string; side: Side; runtimes: readonly Runtime[] }) {
  const { label, side, runtimes } = props;
  const { chat, project, choose } = side;
  const id = chat.projectId;
  // The list may not contain the project of the address, and its state is older than that of the open project.
  const open = { id, name: project.data?.name, state: project.data?.runtime.state };
  const listed = runtimes.map(({ project_id, project_name, state }) => ({ id: project_id, name: project_name, state }));
  const choices = [
    ...listed.map((one) => (one.id === id ? { ...one, state: open.state ?? one.state } : one)),
    ...(listed.some((one) => one.id === id) ? [] : [{ id, name: open.name ?? id, state: open.state ?? 'ready' }]),
  ];
  const nameOf = ({ id, name }: (typeof choices)[number]) =>
    choices.some((other) => other.name === name && other.id !== id) ? `${name} · ${id.slice(-6)}` : name;
  const options = (ready: boolean) =>
    choices
      .filter(({ state }) => (state === 'ready') === ready)
      .map((choice) => (
        <option key={choice.id} value={choice.id} selected={choice.id === id}>
          {ready ? nameOf(choice) : `${nameOf(choice)} (${choice.state.replaceAll('_', ' ')})`}
        </option>
      ));
  const groups = [
    ['Can answer', options(true)],
    ['Cannot answer now', options(false)],
  ] as const;
  return (
    <select aria-label={label} value={id} onInput={(event) => choose(event.currentTarget.value)}>
      {groups.map(
        ([title, drawn]) =>
          drawn.length > 0 && (
            <optgroup key={title} label={title}>
              {drawn}
            </optgroup>
          ),
      )}
    </select>
  );
}
