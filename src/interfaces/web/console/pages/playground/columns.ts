import { useEffect, useMemo, useRef } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { useDraft } from '../../shared/draft.js';
import { useProject } from '../../shared/project-frame.js';
import { useQuery } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { Chat } from './chat.js';
import { useGivenCall } from './given-call.js';
import { defaultSettings, type Settings, schemaProblem } from './request.js';
import { promptOf, settingsFor } from './spec-settings.js';

/** The columns. Each has its own parameters of the address, and keeps its own settings as a draft. */
const PLACES = [
  {
    label: 'First project',
    project: 'project',
    conversation: 'conversation',
    version: 'version',
    settings: 'playground settings',
  },
  {
    label: 'Second project',
    project: 'beside',
    conversation: 'beside_conversation',
    version: 'beside_version',
    settings: 'playground settings beside',
  },
  {
    label: 'Third project',
    project: 'third',
    conversation: 'third_conversation',
    version: 'third_version',
    settings: 'playground settings third',
  },
] as const;

type Place = (typeof PLACES)[number];
type Parameter = 'project' | 'conversation' | 'version';
const PARAMETERS = ['project', 'conversation', 'version'] as const;

/** The settings of a column, and the conversation that set its system prompt. */
interface Kept {
  readonly settings: Settings;
  readonly of: string | null;
}

/** A chat of a column with its project and its settings. */
export type Side = NonNullable<ReturnType<typeof useSide>['side']>;

/** Returns the columns that the address names. `add` adds one with the settings of the first, or is null if all are open. */
export function useSides() {
  const all = PLACES.map(useSide);
  const sides = all.map(({ side }) => side).filter((side) => side !== null);
  const free = all.find(({ side }) => side === null);
  const first = sides[0];
  const add = (projectId: string) => {
    if (first) free?.keep({ ...first.kept, of: null });
    if (free) setQuery(placed(free.place, { project: projectId }));
  };
  return { sides, add: free ? add : null };
}

/** Opens the conversation that the address names. Writes the conversation there when a new one is stored. */
function useSide(place: Place) {
  const projectId = query.value.get(place.project);
  const version = Number(query.value.get(place.version)) || null;
  const project = useProject(projectId, { everyMs: (data) => (data?.runtime.state === 'loading' ? 2_000 : 10_000) });
  const path = { project_id: projectId ?? '', version: version ?? 0 };
  const older = useQuery(projectId && version ? `project ${projectId} version ${version}` : null, () =>
    answer(api.GET('/v1/projects/{project_id}/versions/{version}', { params: { path } })),
  );
  const spec = version === null ? project.data?.spec : older.data?.spec;
  const { kept, keep, change, keptFor } = useSettings(place);
  const chat = useMemo(() => {
    const onKept = (id: string) => {
      if (query.value.get(place.project) !== projectId) return; // the user has just chosen another project
      keptFor(id);
      setQuery({ [place.conversation]: id });
    };
    return projectId === null ? null : new Chat(projectId, onKept);
  }, [projectId]);
  const conversation = query.value.get(place.conversation);
  const stored = chat?.storedSystem.value ?? null;
  useEffect(() => void chat?.open(conversation), [chat, conversation]);
  useEffect(() => {
    if (!conversation || stored === null || !spec) return;
    keptFor(conversation, stored === promptOf(spec) ? null : stored);
  }, [stored, conversation, spec === undefined]);
  useEffect(() => () => chat?.leave(), [chat]);
  useGivenCall(place.project === 'project' ? chat : null, change);
  if (!chat) return { place, keep, side: null };
  const { settings } = kept;
  const isSchema = settings.format === 'json_schema';
  const side = {
    label: place.label,
    place,
    chat,
    project,
    version,
    older,
    /** The settings as the user typed them. */
    typed: settings,
    /** The settings of the next request. */
    settings: settingsFor(settings, spec ?? {}),
    /** The reason why no request can be sent with these settings, or null. */
    problem: isSchema ? schemaProblem(settings.schema) : null,
    /** True until the chosen version is loaded. */
    waits: version !== null && !older.data,
    kept,
    keep,
    change,
    choose: (id: string) => setQuery(placed(place, { project: id }), { replace: false }),
    chooseVersion: (chosen: number | null) => setQuery({ [place.version]: chosen }),
  };
  return { place, keep, side };
}

/** Keeps the settings of a column. A newly opened conversation sets the system prompt. A reload does not set it. */
function useSettings(place: Place) {
  const [draft, keep] = useDraft<Kept>(place.settings);
  const kept: Kept = { settings: { ...defaultSettings, ...draft?.settings }, of: draft?.of ?? null };
  const latest = useRef(kept);
  latest.current = kept;
  const change = (changed: Partial<Settings>) => {
    const { settings, of } = latest.current;
    keep({ settings: { ...settings, ...changed }, of });
  };
  const keptFor = (of: string, system?: string | null) => {
    if (of === latest.current.of) return;
    keep({ settings: { ...latest.current.settings, ...(system !== undefined && { system }) }, of });
  };
  return { kept, keep, change, keptFor };
}

/** Returns the parameters of a column with these values. Those without a value are removed. */
const placed = (place: Place, values: Readonly<Partial<Record<Parameter, string | null>>>) =>
  Object.fromEntries(PARAMETERS.map((name) => [place[name], values[name] ?? null]));

/** Closes a column. The columns after it move up, with their settings. */
export function closeColumn(sides: readonly Side[], index: number): void {
  const changes = sides.slice(index).map(({ place, keep }, at) => {
    const next = sides[index + at + 1];
    if (!next) return placed(place, {});
    keep(next.kept);
    return placed(place, Object.fromEntries(PARAMETERS.map((name) => [name, query.value.get(next.place[name])])));
  });
  setQuery(Object.assign({}, ...changes));
}

/** Starts a new conversation in all columns. */
export function startAnew(sides: readonly Side[]): void {
  setQuery(Object.fromEntries(sides.map(({ place }) => [place.conversation, null])));
  for (const { chat } of sides) void chat.open(null);
}
