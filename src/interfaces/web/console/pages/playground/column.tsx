import { Fragment, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../shared/icon.js';
import { ErrorNote, Loading, State } from '../../shared/states.js';
import { AnswerActs } from './answer-acts.js';
import type { Chat, Failure } from './chat.js';
import type { Side } from './columns.js';
import { Markup, MessageView } from './message.js';
import { ProjectChoice, type Runtime } from './project-choice.js';
import { RuntimeNote } from './runtime-note.js';

/** The number of messages to draw. Earlier messages are drawn after a click. */
const MOST_DRAWN = 60;
/** A log that is scrolled this close to its end follows the answer. */
const NEAR_END_PX = 60;

export interface ColumnProps {
  side: Side;
  label: string;
  runtimes: readonly Runtime[];
  onEdit: (key: number, text: string) => void;
  onAgain: () => void;
  /** Asks again with fewer messages. */
  onShorten: () => void;
  onCode: () => void;
  /** Shows the settings of the column, or null if it is the only one. */
  onSettings: (() => void) | null;
  /** Closes the column, or null if it is the only one. */
  onClose: (() => void) | null;
}

/** Shows one chat: the choice of the project, its runtime, and the messages. */
export function Column(props: ColumnProps) {
  const { side, label, runtimes, onEdit, onAgain, onShorten, onCode, onSettings, onClose } = props;
  const { chat, project } = side;
  const log = useRef<HTMLElement>(null);
  const follow = useFollow(log, chat);
  const [drawn, setDrawn] = useState(MOST_DRAWN);
  const messages = chat.messages.value;
  const isAnswering = chat.isAnswering.value;
  const failure = chat.failure.value;
  const leftOut = chat.leftOut.value;
  const hidden = Math.max(0, messages.length - drawn);
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  useEffect(() => setDrawn(MOST_DRAWN), [chat]);
  useEffect(() => {
    if (failure?.error.code.startsWith('runtime_')) void project.reload();
  }, [failure]);
  const isUnanswered = messages.at(-1)?.role === 'user' && !isAnswering && !failure;
  return (
    <section class="playground-column" aria-label={label}>
      <header class="playground-head">
        <ProjectChoice label={label} side={side} runtimes={runtimes} />
        {project.data && <State of={project.data.runtime.state} />}
        <button type="button" class="button small" onClick={onCode}>
          View code
        </button>
        {onSettings && (
          <button
            type="button"
            class="button small"
            aria-label={`Settings of ${label.toLowerCase()}`}
            onClick={onSettings}
          >
            Settings
          </button>
        )}
        {onClose && <IconButton icon="close" label="Close this chat" onClick={onClose} />}
      </header>
      {onSettings && <p class="hint">{summaryOf(side)}</p>}
      <RuntimeNote project={project} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element. */}
      <section ref={log} class="playground-log" aria-label={`Messages of ${label.toLowerCase()}`} tabIndex={0}>
        {chat.loading.value && <Loading what="the conversation" />}
        {hidden > 0 && (
          <button type="button" class="button small" onClick={() => setDrawn(drawn + MOST_DRAWN)}>
            Show earlier messages ({hidden})
          </button>
        )}
        {messages.length === 0 && !isAnswering && !chat.loading.value && !failure && (
          <p class="hint playground-hello">Ask something. The answer appears here while it is made.</p>
        )}
        {messages.slice(hidden).map((message, index) => (
          <Fragment key={message.key}>
            <MessageView
              message={message}
              onEdit={message.role === 'user' && !isAnswering ? (text) => onEdit(message.key, text) : null}
              acts={
                message.role === 'assistant' && (
                  <AnswerActs project={chat.projectId} messages={messages.slice(0, hidden + index + 1)} />
                )
              }
              onAgain={
                hidden + index === lastAnswer && lastAnswer === messages.length - 1 && !isAnswering ? onAgain : null
              }
            />
            {hidden + index === leftOut - 1 && (
              <p class="hint playground-rule">The messages up to here are not sent.</p>
            )}
          </Fragment>
        ))}
        {isAnswering && <PartialAnswer chat={chat} follow={follow} />}
        {isUnanswered && (
          <div class="actions start">
            <span class="hint">There is no answer yet.</span>
            <button type="button" class="button small" onClick={onAgain}>
              Ask again
            </button>
          </div>
        )}
        {failure && (
          <FailureNote
            failure={failure}
            onAgain={messages.length > 0 ? onAgain : undefined}
            onStop={() => chat.stop()}
          />
        )}
        {failure?.error.code === 'context_length_exceeded' && messages.length - leftOut > 1 && (
          <button type="button" class="button small" onClick={onShorten}>
            Ask with the newer half of the messages
          </button>
        )}
      </section>
      <p class="unseen" role="status">
        {spokenOf(chat)}
      </p>
    </section>
  );
}

/** Returns what distinguishes a column from the others: its version, its prompt, its temperature and its limit. */
function summaryOf({ version, typed, settings: { temperature, max_tokens } }: Side): string {
  const parts = [
    version === null ? 'Newest version' : `Version ${version}`,
    typed.system === null ? null : 'own prompt',
    `temperature ${temperature || 0}`,
    max_tokens && `at most ${max_tokens} tokens`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Returns the text for screen readers: a note, and later the whole answer, but not its single pieces. */
function spokenOf(chat: Chat): string {
  if (chat.isAnswering.value) return 'Answering …';
  const last = chat.messages.value.at(-1);
  return last?.end ? `Answer: ${last.text}` : '';
}

/** Keeps the log scrolled to its end, unless the reader scrolled up. Returns the function that scrolls. */
function useFollow(log: RefObject<HTMLElement | null>, chat: Chat): () => void {
  const isFollowing = useRef(true);
  const follow = () => {
    if (isFollowing.current && log.current) log.current.scrollTop = log.current.scrollHeight;
  };
  useEffect(() => {
    const element = log.current;
    const onScroll = () => {
      if (!element) return;
      isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    };
    const sizes = new ResizeObserver(follow);
    if (element) sizes.observe(element);
    element?.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      element?.removeEventListener('scroll', onScroll);
    };
  }, []);
  useLayoutEffect(() => {
    if (chat.messages.value.at(-1)?.role === 'user') isFollowing.current = true;
    follow();
  }, [chat.messages.value, chat.failure.value]);
  return follow;
}

/** Shows the answer that is being received. Only this component is drawn again with each frame. */
function PartialAnswer({ chat, follow }: { chat: Chat; follow: () => void }) {
  const text = chat.partialText.value ?? '';
  useLayoutEffect(follow, [text]);
  return (
    <article class="playground-message assistant" aria-label="Answer" aria-busy="true">
      {text === '' ? <p class="hint">Waiting for the first word …</p> : <Markup text={text} />}
    </article>
  );
}

function FailureNote(props: { failure: Failure; onAgain: (() => void) | undefined; onStop: () => void }) {
  const { failure, onAgain, onStop } = props;
  const { error, retryIn } = failure;
  if (retryIn === null) return <ErrorNote error={error} details={[]} onRetry={onAgain} />;
  return (
    <div class="note warn" role="status">
      <p>
        {error.message} Asking again in {retryIn} s.
      </p>
      <div class="actions start">
        <button type="button" class="button small" onClick={onAgain}>
          Try again now
        </button>
        <button type="button" class="button small" onClick={onStop}>
          Stop trying
        </button>
      </div>
    </div>
  );
}
