import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Field } from '../../shared/form.js';
import { formatNumber } from '../../shared/format.js';
import { useQuery } from '../../shared/query.js';
import { Loaded } from '../../shared/states.js';

type ApiKey = Schemas['ApiKey'];
type Restrictions = Pick<
  ApiKey,
  'projects' | 'permissions' | 'requests_per_minute' | 'tokens_per_minute' | 'max_concurrent'
>;
type KeyPermission = NonNullable<ApiKey['permissions']>[number];

/** Tells what each permission is for. */
const PERMISSIONS: Readonly<Record<KeyPermission, string>> = {
  chat: 'Chat and make embeddings',
  predict: 'Ask deployments for predictions',
  read: 'Read what you may read',
  write: 'Read and change what you may change',
};

const SHORT: Readonly<Record<KeyPermission, string>> = {
  chat: 'chat',
  predict: 'predict',
  read: 'read',
  write: 'read and change',
};

const LIMITS = [
  ['requests_per_minute', 'Requests a minute', 'Empty for no limit of its own.'],
  ['tokens_per_minute', 'Tokens a minute', 'Answers are cut to what is left. Empty for no limit.'],
  ['max_concurrent', 'Calls of models at the same time', 'Empty for no limit.'],
] as const;
type LimitName = (typeof LIMITS)[number][0];
export type LimitTexts = Readonly<Record<LimitName, string>>;

export const limitTexts = (key?: ApiKey): LimitTexts =>
  Object.fromEntries(LIMITS.map(([name]) => [name, String(key?.[name] ?? '')])) as LimitTexts;

/** Returns the numbers that the user has typed. The service refuses a text that is no number. */
export const sentLimits = (texts: LimitTexts): Pick<Restrictions, LimitName> =>
  Object.fromEntries(LIMITS.map(([name]) => [name, numberIn(texts[name])])) as Pick<Restrictions, LimitName>;

const numberIn = (text: string): number | null => {
  if (text.trim() === '') return null;
  const value = Number(text);
  return Number.isNaN(value) ? 0 : value;
};

/** Returns in a few words what restricts a key, or null for a key without restrictions. */
export function summaryOf({ projects, permissions, ...limits }: Restrictions): string | null {
  const { requests_per_minute: requests, tokens_per_minute: tokens, max_concurrent: calls } = limits;
  const parts = [
    permissions?.map((one) => SHORT[one]).join(', '),
    projects && (projects.length === 1 ? 'in 1 project' : `in ${projects.length} projects`),
    requests !== null && `${formatNumber(requests)} requests a minute`,
    tokens !== null && `${formatNumber(tokens)} tokens a minute`,
    calls !== null && `${formatNumber(calls)} at the same time`,
  ].filter((part) => part !== null && part !== undefined && part !== false);
  return parts.length === 0 ? null : parts.join(', ');
}

/** Holds the permissions and the projects that the user has picked. Nothing picked is no restriction. */
export function usePicked(key?: ApiKey) {
  const [permissions, setPermissions] = useState<readonly KeyPermission[]>(key?.permissions ?? []);
  const [projects, setProjects] = useState<readonly string[]>(key?.projects ?? []);
  const orNull = <T,>(list: readonly T[]) => (list.length === 0 ? null : [...list]);
  return {
    ...{ permissions, setPermissions, projects, setProjects },
    sent: { permissions: orNull(permissions), projects: orNull(projects) },
  };
}

const toggled = <T,>(list: readonly T[], item: T): readonly T[] =>
  list.includes(item) ? list.filter((one) => one !== item) : [...list, item];

type Connected = Record<string, unknown>;

/** Connects the limits to a form. Must be called where the form is drawn, so that it knows its fields. */
export const limitFields = (field: (name: LimitName) => object) =>
  Object.fromEntries(LIMITS.map(([name]) => [name, field(name)])) as Readonly<Record<LimitName, Connected>>;

/** Draws the fields of what restricts a key. */
export function RestrictionFields(props: {
  picked: ReturnType<typeof usePicked>;
  limits: ReturnType<typeof limitFields>;
}) {
  const { picked, limits } = props;
  return (
    <>
      <fieldset class="account-picks">
        <legend>It may</legend>
        <p class="hint">With nothing picked, it may chat, predict, and read and report jobs as you may.</p>
        {Object.entries(PERMISSIONS).map(([name, words]) => (
          <Pick
            key={name}
            label={words}
            isPicked={picked.permissions.includes(name as KeyPermission)}
            onToggle={() => picked.setPermissions(toggled(picked.permissions, name as KeyPermission))}
          />
        ))}
      </fieldset>
      <ProjectPicks picked={picked} />
      {LIMITS.map(([name, label, hint]) => (
        <Field key={name} label={label} hint={hint} inputMode="numeric" {...limits[name]} />
      ))}
    </>
  );
}

function ProjectPicks({ picked }: { picked: ReturnType<typeof usePicked> }) {
  const query = { limit: 1_000 };
  const projects = useQuery('projects for a key', () => answer(api.GET('/v1/projects', { params: { query } })));
  return (
    <fieldset class="account-picks">
      <legend>Only in these projects</legend>
      <p class="hint">With nothing picked, it is for all projects. Otherwise it makes no predictions.</p>
      <Loaded query={projects} what="the projects">
        {({ projects: known }) => {
          const gone = picked.projects.filter((id) => !known.some((one) => one.id === id));
          const rows = [...known, ...gone.map((id) => ({ id, name: 'a deleted project' }))];
          return rows.map(({ id, name }) => (
            <Pick
              key={id}
              label={name}
              isPicked={picked.projects.includes(id)}
              onToggle={() => picked.setProjects(toggled(picked.projects, id))}
            />
          ));
        }}
      </Loaded>
    </fieldset>
  );
}

const Pick = ({ label, isPicked, onToggle }: { label: string; isPicked: boolean; onToggle: () => void }) => (
  <label class="choice">
    <input type="checkbox" checked={isPicked} onChange={onToggle} />
    <span dir="auto">{label}</span>
  </label>
);
