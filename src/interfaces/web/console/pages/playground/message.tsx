import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../../shared/copy-button.js';
import { formatDuration, formatNumber, plural } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { JsonText } from '../../shared/json-text.js';
import type { Figures, Message } from './chat.js';
import { type Block, blocksOf, prettyJson, spansOf } from './markup.js';

/** Draws the text of a model. While an answer is being received, only changed blocks are drawn again. */
export const Markup = ({ text }: { text: string }) => (
  <div class="playground-text">
    {blocksOf(text).map((block, index) => (
      <BlockView key={index} block={block} />
    ))}
  </div>
);

function BlockView({ block }: { block: Block }) {
  return useMemo(() => drawn(block), [JSON.stringify(block)]);
}

function drawn(block: Block) {
  if (block.kind === 'code') {
    return (
      <div class="playground-code">
        <CopyButton text={block.text} label={block.language ? `Copy ${block.language}` : 'Copy'} />
        <pre>{block.text}</pre>
      </div>
    );
  }
  if (block.kind === 'heading')
    return (
      <p class="playground-heading" dir="auto">
        {spans(block.text)}
      </p>
    );
  if (block.kind === 'text') return <p dir="auto">{spans(block.text)}</p>;
  const items = block.items.map((item, index) => (
    <li key={index} dir="auto">
      {spans(item)}
    </li>
  ));
  return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
}

const spans = (text: string) =>
  spansOf(text).map(({ kind, text: part }) =>
    kind === 'bold' ? <strong>{part}</strong> : kind === 'code' ? <code>{part}</code> : part,
  );

const names = { user: 'You', assistant: 'Answer', system: 'System', tool: 'Tool' } as const;

/** Shows a message. While an answer is being received, the buttons that change the chat are missing. */
export function MessageView(props: {
  message: Message;
  onEdit: ((text: string) => void) | null;
  onAgain: (() => void) | null;
  /** More buttons, such as those that judge an answer. */
  acts?: ComponentChildren;
}) {
  const { message, onEdit, onAgain, acts } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const [asJson, setAsJson] = useState(false);
  const { role, text, end, figures } = message;
  const isAnswer = role === 'assistant';
  const json = useMemo(() => (isAnswer ? prettyJson(text) : null), [text]);
  const body = useMemo(() => {
    if (asJson && json) {
      return (
        <pre dir="auto">
          <JsonText text={json} />
        </pre>
      );
    }
    return isAnswer ? (
      <Markup text={text} />
    ) : (
      <p class={role === 'user' ? 'playground-bubble' : ''} dir="auto">
        {text}
      </p>
    );
  }, [text, asJson]);
  if (draft !== null && onEdit) {
    return <Editor text={draft} onChange={setDraft} onSend={() => [setDraft(null), onEdit(draft)]} />;
  }
  return (
    <article class={`playground-message ${role}`} aria-label={names[role]}>
      {body}
      {end === 'length' && <p class="hint">The answer ended at the limit of tokens.</p>}
      {end === 'stopped' && <p class="hint">You stopped this answer. It is not stored until the next one.</p>}
      {end === 'tool_calls' && text === '' && <p class="hint">The model asked for a tool.</p>}
      <footer class="playground-foot">
        {figures && <FiguresLine figures={figures} />}
        <span class="playground-acts">
          {json && (
            <button type="button" class="button small" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
              {asJson ? 'As sent' : 'Format JSON'}
            </button>
          )}
          {isAnswer && <CopyButton text={text} />}
          {onAgain && (
            <button type="button" class="button small" onClick={onAgain}>
              <Icon name="retry" /> Regenerate
            </button>
          )}
          {onEdit && (
            <button type="button" class="button small" onClick={() => setDraft(text)}>
              <Icon name="edit" /> Edit
            </button>
          )}
          {acts}
        </span>
      </footer>
    </article>
  );
}

function Editor({
  text,
  onChange,
  onSend,
}: {
  text: string;
  onChange: (text: string | null) => void;
  onSend: () => void;
}) {
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => input.current?.focus(), []);
  const send = () => text.trim() && onSend();
  return (
    <form
      class="playground-message playground-editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        class="playground-input"
        aria-label="Edit the question"
        dir="auto"
        ref={input}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onChange(null);
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            send();
          }
        }}
      />
      <div class="actions">
        <button type="button" class="button small" onClick={() => onChange(null)}>
          Cancel
        </button>
        <button type="submit" class="button small">
          Send again
        </button>
      </div>
    </form>
  );
}

function FiguresLine({ figures: { firstText, total, usage } }: { figures: Figures }) {
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  const speed = usage && speedOf(usage.completion_tokens, firstText, total);
  const parts = [
    usage && plural(usage.completion_tokens, 'token'),
    speed && `${formatNumber(Math.round(speed))} tokens/s`,
    firstText !== null && `first after ${formatDuration(firstText)}`,
    `${formatDuration(total)} in all`,
    usage && `prompt of ${formatNumber(usage.prompt_tokens)}${cached > 0 ? `, ${formatNumber(cached)} cached` : ''}`,
  ];
  return <span class="hint playground-figures">{parts.filter(Boolean).join(' · ')}</span>;
}

/** Returns the tokens per second after the first text, or null if the whole answer arrived at once. */
function speedOf(tokens: number, firstText: number | null, total: number): number | null {
  const after = total - (firstText ?? total);
  return tokens > 1 && after > 0.005 ? (tokens - 1) / after : null;
}
