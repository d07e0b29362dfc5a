import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import {
  answersIn,
  type Call,
  type CallMessage,
  type CallRequest,
  requestIn,
  type ToolCall,
} from '../../shared/call-content.js';
import { CopyButton } from '../../shared/copy-button.js';
import { plural } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { JsonText } from '../../shared/json-text.js';

/** The number of characters of a text that are shown at first. */
const LONG = 2_000;
/** The number of messages that are shown at first: the newest ones. */
const MANY = 20;

/** Shows the prompt and the answer of a call. */
export function CallContent({ call }: { call: Call }) {
  const request = requestIn(call);
  const answers = answersIn(call);
  return (
    <>
      {call.request !== null && <Prompt request={request} />}
      {answers.map((one, index) => (
        <Panel
          key={index}
          title={answers.length > 1 ? `Answer ${index + 1} of ${answers.length}` : 'Answer'}
          actions={one.text !== '' && <CopyButton text={one.text} />}
        >
          <Message message={one} isAnswer />
          <EndNote reason={one.finishReason} />
        </Panel>
      ))}
      {call.content === 'full' && answers.length === 0 && call.kind === 'chat' && (
        <Panel title="Answer">
          <p class="hint">No part of an answer was made.</p>
        </Panel>
      )}
      {call.content === 'full' && call.kind === 'embedding' && <p class="hint">Vectors are never kept.</p>}
    </>
  );
}

function Prompt({ request }: { request: CallRequest }) {
  const { messages, texts, tools, settings } = request;
  const [most, setMost] = useState(MANY);
  const hidden = Math.max(0, messages.length - most);
  return (
    <Panel title="Prompt">
      <div class="stack">
        {hidden > 0 && (
          <button type="button" class="button small calls-earlier" onClick={() => setMost(Number.POSITIVE_INFINITY)}>
            Show {plural(hidden, 'earlier message')}
          </button>
        )}
        {messages.length > 0 && (
          <ol class="calls-messages">
            {messages.slice(hidden).map((message, index) => (
              <li key={hidden + index} class={`calls-message ${message.role}`}>
                <Message message={message} />
              </li>
            ))}
          </ol>
        )}
        {texts.length > 0 && (
          <ol class="calls-texts">
            {texts.map((text, index) => (
              <li key={index}>
                <LongText text={text} />
              </li>
            ))}
          </ol>
        )}
        {tools.length > 0 && (
          <details>
            <summary>{plural(tools.length, 'tool')} that the model could call</summary>
            <ul class="calls-tools">
              {tools.map(({ name, description, parameters }) => (
                <li key={name}>
                  <strong>{name}</strong> {description && <span class="hint">{description}</span>}
                  {parameters != null && <Json value={parameters} />}
                </li>
              ))}
            </ul>
          </details>
        )}
        {settings.length > 0 && (
          <details>
            <summary>Settings of the request</summary>
            <dl class="facts calls-settings">
              {settings.map(([name, value]) => (
                <>
                  <dt>{name}</dt>
                  <dd>
                    <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                  </dd>
                </>
              ))}
            </dl>
          </details>
        )}
      </div>
    </Panel>
  );
}

const ROLES: Readonly<Record<string, string>> = {
  user: 'User',
  assistant: 'Assistant',
  system: 'System',
  tool: 'Tool',
};

function Message({ message, isAnswer = false }: { message: CallMessage; isAnswer?: boolean }) {
  const { role, name, text, images, reasoning, refusal, toolCalls, toolCallId } = message;
  const isEmpty = text === '' && toolCalls.length === 0 && refusal === '' && images === 0;
  return (
    <div class="calls-parts">
      {!isAnswer && (
        <p class="calls-role">
          {ROLES[role] ?? role}
          {name && ` ${name}`}
          {toolCallId && <span class="hint"> answers the call {toolCallId}</span>}
        </p>
      )}
      {reasoning && (
        <details>
          <summary>Reasoning</summary>
          <LongText text={reasoning} />
        </details>
      )}
      {text !== '' && <LongText text={text} />}
      {images > 0 && <p class="hint">{plural(images, 'image')}: images are never kept.</p>}
      {refusal && <Labelled label="Refusal">{refusal}</Labelled>}
      {toolCalls.map((call) => (
        <ToolCallView key={call.id} call={call} />
      ))}
      {isEmpty && <p class="hint">empty</p>}
    </div>
  );
}

const Labelled = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <p dir="auto">
    <span class="hint">{label}: </span>
    {children}
  </p>
);

function ToolCallView({ call: { id, name, arguments: sent } }: { call: ToolCall }) {
  return (
    <div class="calls-tool-call">
      <p>
        Calls <strong>{name}</strong> <span class="hint">{id}</span>
      </p>
      {sent && <Json value={parsed(sent)} />}
    </div>
  );
}

/** Returns the value of a JSON text, or the text itself if it is none, such as one that was cut. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const Json = ({ value }: { value: unknown }) => (
  <pre dir="auto">{typeof value === 'string' ? value : <JsonText text={JSON.stringify(value, null, 2)} />}</pre>
);

/** Shows a text. The end of a long one is shown after a click. */
function LongText({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= LONG);
  return (
    <>
      <p class="calls-text" dir="auto">
        {whole ? text : `${text.slice(0, LONG)} …`}
      </p>
      {!whole && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </>
  );
}

const ENDS: Readonly<Record<string, string>> = {
  length: 'The answer ended at the limit of tokens.',
  tool_calls: 'The model asked for tools.',
  content_filter: 'The engine’s filter ended the answer.',
};

const EndNote = ({ reason }: { reason: string }) => {
  const words = reason === '' ? 'The call ended before the answer was complete.' : ENDS[reason];
  return words ? <p class="hint">{words}</p> : null;
};
