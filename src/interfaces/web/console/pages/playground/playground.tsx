import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { can, type Status, status } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { useDraft } from '../../shared/draft.js';
import { mayFocusInputs } from '../../shared/focus.js';
import { Frame } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Empty, Loaded } from '../../shared/states.js';
import { Chat } from './chat.js';
import { CodeView } from './code-view.js';
import { Column } from './column.js';
import { Composer } from './composer.js';
import { Conversations } from './conversations.js';
import { defaultSettings, requestOf, type Settings, schemaProblem } from './request.js';
import { SettingsForm } from './settings.js';

type Runtime = Status['runtimes'][number];

/** Returns the runtimes that can chat. Leaves out runtimes that make embeddings. */
const chatting = (runtimes: readonly Runtime[]) => runtimes.filter(({ task }) => task !== 'embedding');

/** Chooses the project in the address. Without one, chooses the last project of the tab, or a ready project. */
export function PlaygroundPage() {
  const now = useQuery('status', () => answer(api.GET('/v1/status')));
  const runtimes = chatting((now.data ?? status.value)?.runtimes ?? []);
  const [last, keepLast] = useDraft<string>('playground project');
  const chosen = query.value.get('project');
  useEffect(() => {
    if (chosen !== null) return keepLast(chosen);
    const ready = runtimes.find(({ state }) => state === 'ready');
    const one = runtimes.find(({ project_id }) => project_id === last) ?? ready ?? runtimes[0];
    if (now.data && one) setQuery({ project: one.project_id });
  }, [chosen, now.data]);
  if (chosen !== null) return <Playground projectId={chosen} runtimes={runtimes} />;
  return (
    <Frame title="Playground">
      <Loaded query={now} what="the projects">
        {() => (
          <Empty icon="playground" title="There is no project to chat with yet">
            {can('edit_workspace') ? (
              <a class="button primary" href={link('/projects')}>
                Create a project
              </a>
            ) : (
              <p>An admin or a developer can create one.</p>
            )}
          </Empty>
        )}
      </Loaded>
    </Frame>
  );
}

/** Shows a chat with one project, or two chats side by side that get the same questions. */
function Playground({ projectId, runtimes }: { projectId: string; runtimes: readonly Runtime[] }) {
  const { settings, change, keptFor } = useSettings();
  const besideId = query.value.get('beside');
  const first = useChat(projectId, 'conversation', keptFor);
  const second = useChat(besideId, 'beside_conversation');
  const sides = [first, second].filter((side) => side !== null);
  const [question, keepQuestion] = useDraft<string>('playground question');
  const [asked, keepAsked] = useDraft<string>(`playground asked ${projectId}`);
  const [coded, setCoded] = useState<Side | null>(null);
  const panel = usePanel();
  const composer = useRef<HTMLTextAreaElement>(null);
  const focusComposer = () => mayFocusInputs() && composer.current?.focus();
  const isAnswering = sides.some(({ chat }) => chat.isAnswering.value);
  const problem = settings.format === 'json_schema' ? schemaProblem(settings.schema) : null;
  useLayoutEffect(() => {
    // If a reload stopped an answer, the question becomes the draft again.
    if (asked && !question) keepQuestion(asked);
    keepAsked(null);
  }, []);

  const withSettings = (act: () => void) => (problem ? panel.open('settings') : act());
  const send = () =>
    withSettings(async () => {
      const text = (question ?? '').trim();
      if (text === '' || isAnswering) return;
      keepAsked(text);
      keepQuestion(null);
      const answered = await Promise.all(sides.map(({ chat, prompt }) => chat.ask(text, settings, prompt)));
      if (answered.every(Boolean)) keepAsked(null);
    });
  const stop = () => {
    for (const { chat } of sides) chat.stop();
  };
  /** Asks again in one column. After the answer, forgets the question that was kept for a reload. */
  const repeat = (act: () => Promise<boolean>) =>
    withSettings(async () => {
      focusComposer(); // The pressed button disappears.
      if (await act()) keepAsked(null);
    });
  const startAnew = () => {
    setQuery({ conversation: null, beside_conversation: null });
    for (const { chat } of sides) void chat.open(null);
    focusComposer();
  };
  const compare = () => {
    const other = runtimes.find(({ project_id, state }) => project_id !== projectId && state === 'ready');
    setQuery({ beside: other?.project_id ?? projectId });
  };
  const choices = runtimes.map(({ project_id: id, project_name: name }) => ({ id, name }));
  const refused = sides.map(({ chat }) => chat.failure.value?.error).find((error) => error !== undefined);
  if (!first) return null;

  const columnOf = (side: Side, label: string) => (
    <Column
      key={label}
      label={label}
      chat={side.chat}
      project={side.project}
      choices={withNamed(choices, side)}
      onChoose={(id) => side.choose(id)}
      onAgain={() => repeat(() => side.chat.again(settings, side.prompt))}
      onShorten={() => repeat(() => side.chat.shorten(settings, side.prompt))}
      onEdit={(key, text) => repeat(() => side.chat.edit(key, text.trim(), settings, side.prompt))}
      onCode={() => withSettings(() => setCoded(side))}
      onClose={second ? () => closeColumn(side === first, besideId) : null}
    />
  );
  return (
    <Frame
      title="Playground"
      actions={
        <>
          <button type="button" class="button" onClick={startAnew}>
            New conversation
          </button>
          {!second && (
            <button type="button" class="button" onClick={compare}>
              Compare
            </button>
          )}
          {panel.buttons}
        </>
      }
    >
      <div class={panel.shown ? 'playground with-side' : 'playground'}>
        <div class="playground-main">
          <div class="playground-columns">
            {columnOf(first, second ? 'First project' : 'Project')}
            {second && columnOf(second, 'Second project')}
          </div>
          <Composer
            input={composer}
            text={question ?? ''}
            onText={keepQuestion}
            onSend={send}
            onStop={stop}
            isAnswering={isAnswering}
          />
        </div>
        {panel.shown && (
          <aside class="playground-side" aria-label={panel.shown === 'settings' ? 'Settings' : 'Conversations'}>
            {panel.shown === 'settings' ? (
              <SettingsForm
                settings={settings}
                project={first.project.data?.spec ?? {}}
                refused={refused}
                onChange={change}
              />
            ) : (
              <Conversations
                projectId={projectId}
                open={query.value.get('conversation')}
                stored={first.chat.stored.value}
                panel={panel.isWide ? panel.shown : null}
                onDeleted={(id) => id === query.value.get('conversation') && startAnew()}
              />
            )}
          </aside>
        )}
      </div>
      {coded && <CodeView request={requestToShow(coded, settings, question ?? '')} onClose={() => setCoded(null)} />}
    </Frame>
  );
}

/** A chat of a column, with its project. */
type Side = NonNullable<ReturnType<typeof useChat>>;

/** Opens the conversation that `parameter` of the address names. Sets `parameter` when a new conversation is stored. */
function useChat(
  projectId: string | null,
  parameter: 'conversation' | 'beside_conversation',
  keptFor?: (conversationId: string, system?: string | null) => void,
) {
  const ofProject = parameter === 'conversation' ? 'project' : 'beside';
  const project = useQuery(
    projectId && `project ${projectId}`,
    () => answer(api.GET('/v1/projects/{project_id}', { params: { path: { project_id: projectId ?? '' } } })),
    { everyMs: (data) => (data?.runtime.state === 'loading' ? 2_000 : 10_000) },
  );
  const chat = useMemo(() => {
    const onKept = (id: string) => {
      if (query.value.get(ofProject) !== projectId) return; // the user has just chosen another project
      keptFor?.(id);
      setQuery({ [parameter]: id });
    };
    return projectId === null ? null : new Chat(projectId, onKept);
  }, [projectId]);
  const conversation = query.value.get(parameter);
  const stored = chat?.storedSystem.value ?? null;
  const prompt = project.data?.spec.system_prompt ?? '';
  useEffect(() => void chat?.open(conversation), [chat, conversation]);
  useEffect(() => {
    if (conversation && stored !== null && project.data) keptFor?.(conversation, stored === prompt ? null : stored);
  }, [stored, conversation, project.data === undefined]);
  useEffect(() => () => chat?.leave(), [chat]);
  if (!chat) return null;
  const choose = (id: string) => setQuery({ [ofProject]: id, [parameter]: null }, { replace: false });
  return { chat, project, prompt, choose };
}

/** Returns the settings of the tab. A newly opened conversation sets the system prompt. A reload does not set it. */
function useSettings() {
  const [kept, keep] = useDraft<{ settings: Settings; of: string | null }>('playground settings');
  const state = { settings: defaultSettings, of: null, ...kept };
  const latest = useRef(state);
  latest.current = state;
  const change = (changed: Partial<Settings>) => {
    const { settings, of } = latest.current;
    keep({ settings: { ...settings, ...changed }, of });
  };
  const keptFor = (of: string, system?: string | null) => {
    if (of === latest.current.of) return;
    keep({ settings: { ...latest.current.settings, ...(system !== undefined && { system }) }, of });
  };
  return { settings: state.settings, change, keptFor };
}

const WIDE = matchMedia('(min-width: 72rem)');

/** Returns the panel beside the chats. On a wide screen, it shows the settings if the address names no panel. */
function usePanel() {
  const [isWide, setWide] = useState(WIDE.matches);
  useEffect(() => {
    const onChange = () => setWide(WIDE.matches);
    WIDE.addEventListener('change', onChange);
    return () => WIDE.removeEventListener('change', onChange);
  }, []);
  const named = query.value.get('panel') ?? (isWide ? 'settings' : 'none');
  const shown = named === 'settings' || named === 'conversations' ? named : null;
  const open = (name: string) => setQuery({ panel: name });
  const button = (name: string, words: string) => (
    <button
      type="button"
      class="button"
      aria-pressed={shown === name}
      onClick={() => open(shown === name ? 'none' : name)}
    >
      {words}
    </button>
  );
  const buttons = [button('conversations', 'Conversations'), button('settings', 'Settings')];
  return { shown, isWide, open, buttons };
}

/** Closes a column. If it is the first, the second becomes the first. */
function closeColumn(isFirst: boolean, besideId: string | null): void {
  if (isFirst) setQuery({ project: besideId, conversation: query.value.get('beside_conversation') });
  setQuery({ beside: null, beside_conversation: null });
}

/** Adds the project of the address, because the list may not contain it. */
function withNamed(choices: readonly { id: string; name: string }[], { chat, project }: Side) {
  const id = chat.projectId;
  return choices.some((choice) => choice.id === id) ? choices : [...choices, { id, name: project.data?.name ?? id }];
}

/** Returns the request that Send would send. Without a question, returns the last request. */
function requestToShow({ chat, prompt }: Side, settings: Settings, question: string) {
  const messages = chat.messages.value;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const text = question.trim() || (last < 0 ? 'What is the capital of France?' : '');
  const history = text === '' ? messages.slice(0, last + 1) : [...messages, { role: 'user' as const, text }];
  return requestOf({ model: chat.projectId, settings, history, projectPrompt: prompt });
}
