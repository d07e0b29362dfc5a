import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { can, newStatus, status } from '../../shared/account.js';
import { useDraft } from '../../shared/draft.js';
import { mayFocusInputs } from '../../shared/focus.js';
import { SelectField } from '../../shared/form.js';
import { Frame } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Empty, Loaded } from '../../shared/states.js';
import { CodeView } from './code-view.js';
import { Column } from './column.js';
import { closeColumn, type Side, startAnew, useSides } from './columns.js';
import { Composer } from './composer.js';
import { Conversations } from './conversations.js';
import { usePanel } from './panel.js';
import type { Runtime } from './project-choice.js';
import { requestOf } from './request.js';
import { SaveToProject } from './save-to-project.js';
import { SettingsForm } from './settings.js';

const STATUS_EVERY_MS = 15_000;

/** Returns the runtimes that can chat. Leaves out runtimes that make embeddings. */
const chatting = (runtimes: readonly Runtime[]) => runtimes.filter(({ task }) => task !== 'embedding');

/** Chooses the project in the address. Without one, chooses the last project of the tab, or a ready project. */
export function PlaygroundPage() {
  const now = useQuery('status', newStatus, { everyMs: STATUS_EVERY_MS });
  const runtimes = chatting((now.data ?? status.value)?.runtimes ?? []);
  const [last, keepLast] = useDraft<string>('playground project');
  const chosen = query.value.get('project');
  useEffect(() => {
    if (chosen !== null) return keepLast(chosen);
    const ready = runtimes.find(({ state }) => state === 'ready');
    const one = runtimes.find(({ project_id }) => project_id === last) ?? ready ?? runtimes[0];
    if (now.data && one) setQuery({ project: one.project_id });
  }, [chosen, now.data]);
  if (chosen !== null) return <Playground runtimes={runtimes} />;
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

/** Shows chats side by side that get the same questions: one, or several to compare projects, versions or settings. */
function Playground({ runtimes }: { runtimes: readonly Runtime[] }) {
  const { sides, add } = useSides();
  const [first] = sides;
  const [question, keepQuestion] = useDraft<string>('playground question');
  const [asked, keepAsked] = useDraft<string>(`playground asked ${first?.chat.projectId}`);
  const [coded, setCoded] = useState<Side | null>(null);
  const [chosen, choose] = useState('');
  const [saved, save] = useState<string | null>(null);
  const panel = usePanel();
  const composer = useRef<HTMLTextAreaElement>(null);
  const given = query.value.get('question');
  useLayoutEffect(() => {
    // A link can bring a question. It becomes the draft, which the user sends.
    if (!given) return;
    keepQuestion(given);
    setQuery({ question: null });
  }, [given]);
  const focusComposer = () => mayFocusInputs() && composer.current?.focus();
  const isAnswering = sides.some(({ chat }) => chat.isAnswering.value);
  useLayoutEffect(() => {
    // If a reload stopped an answer, the question becomes the draft again.
    if (asked && !question) keepQuestion(asked);
    keepAsked(null);
  }, []);
  if (!first) return null;
  const shown = sides.find(({ label }) => label === chosen) ?? first;
  const saving = sides.find(({ label }) => label === saved);

  const openSettings = ({ label }: Side) => {
    choose(label);
    panel.open('settings');
  };
  /** Acts if a request can be sent with the settings of these columns. Otherwise shows the settings with a problem. */
  const withSettings = (of: readonly Side[], act: () => void) => {
    const hindered = of.find(({ problem, waits }) => problem !== null || waits);
    if (hindered) openSettings(hindered);
    else act();
  };
  const send = () =>
    withSettings(sides, async () => {
      const text = (question ?? '').trim();
      if (text === '' || isAnswering) return;
      keepAsked(text);
      keepQuestion(null);
      const answered = await Promise.all(sides.map(({ chat, settings }) => chat.ask(text, settings)));
      if (answered.every(Boolean)) keepAsked(null);
    });
  const stop = () => {
    for (const { chat } of sides) chat.stop();
  };
  /** Asks again in one column. After the answer, forgets the question that was kept for a reload. */
  const repeat = (side: Side, act: () => Promise<boolean>) =>
    withSettings([side], async () => {
      focusComposer(); // The pressed button disappears.
      if (await act()) keepAsked(null);
    });
  const begin = () => {
    startAnew(sides);
    focusComposer();
  };
  const compare = () => {
    const isShown = (id: string) => sides.some(({ chat }) => chat.projectId === id);
    const other = runtimes.find(({ project_id, state }) => state === 'ready' && !isShown(project_id));
    add?.(other?.project_id ?? first.chat.projectId);
  };
  const isOne = sides.length === 1;
  const columnOf = (side: Side, index: number) => (
    <Column
      key={side.label}
      label={isOne ? 'Project' : side.label}
      side={side}
      runtimes={runtimes}
      onAgain={() => repeat(side, () => side.chat.again(side.settings))}
      onShorten={() => repeat(side, () => side.chat.shorten(side.settings))}
      onEdit={(key, text) => repeat(side, () => side.chat.edit(key, text.trim(), side.settings))}
      onCode={() => withSettings([side], () => setCoded(side))}
      onSettings={isOne ? null : () => openSettings(side)}
      onClose={isOne ? null : () => closeColumn(sides, index)}
    />
  );
  return (
    <Frame
      title="Playground"
      actions={
        <>
          <button type="button" class="button" onClick={begin}>
            New conversation
          </button>
          {add && (
            <button type="button" class="button" onClick={compare}>
              {isOne ? 'Compare' : 'Add a column'}
            </button>
          )}
          {panel.buttons}
        </>
      }
    >
      <div class={panel.shown ? 'playground with-side' : 'playground'}>
        <div class="playground-main">
          <div class="playground-columns">{sides.map(columnOf)}</div>
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
              <>
                {!isOne && (
                  <SelectField
                    label="Settings of"
                    options={sides.map(({ label }) => [label, label] as const)}
                    value={shown.label}
                    onInput={(event) => choose(event.currentTarget.value)}
                  />
                )}
                <SettingsForm
                  key={`${shown.label} ${shown.chat.projectId}`}
                  side={shown}
                  onSave={() => save(shown.label)}
                />
              </>
            ) : (
              <Conversations
                projectId={first.chat.projectId}
                open={query.value.get('conversation')}
                stored={first.chat.stored.value}
                panel={panel.isWide ? panel.shown : null}
                onDeleted={(id) => id === query.value.get('conversation') && begin()}
              />
            )}
          </aside>
        )}
      </div>
      {coded && <CodeView request={requestToShow(coded, question ?? '')} onClose={() => setCoded(null)} />}
      {saving && (
        <SaveToProject
          side={saving}
          onSaved={(now) => {
            for (const { label, chat, project, version, chooseVersion } of sides) {
              if (chat.projectId !== now.id) continue;
              // The other columns keep what they had, so that they can be compared with the new version.
              if (label !== saved && version === null && project.data) chooseVersion(project.data.version);
              project.set(now);
            }
          }}
          onClose={() => save(null)}
        />
      )}
    </Frame>
  );
}

/** Returns the request that Send would send. Without a question, returns the last request. */
function requestToShow({ chat, settings }: Side, question: string) {
  const messages = chat.messages.value;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const text = question.trim() || (last < 0 ? 'What is the capital of France?' : '');
  const history = text === '' ? messages.slice(0, last + 1) : [...messages, { role: 'user' as const, text }];
  return requestOf({ model: chat.projectId, settings, history });
}
