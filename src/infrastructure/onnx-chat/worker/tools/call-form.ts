/** Recognizes the forms in which the chat templates of models write tool calls. */

/**
 * The texts around the parts of tool calls: `open`, then for each call `before`, its name, `between`, its arguments and
 * `after`, with a `separator` between two calls, and finally `close`.
 */
export interface CallForm {
  /** The text with which calls begin. Other text of an answer does not contain it. */
  readonly trigger: string;
  /** If false, calls begin only at the start of an answer. */
  readonly followsText: boolean;
  readonly open: string;
  readonly before: string;
  readonly between: string;
  readonly after: string;
  /** If null, an answer has at most one call. */
  readonly separator: string | null;
  readonly close: string;
  /** The template accepts only ids of nine letters and digits. */
  readonly hasShortIds: boolean;
}

const NAME = 'trial_tool';
const ID = 'trial0001';

/** A conversation with a call that shows how a template writes it. */
export const trial = {
  question: { role: 'user', content: 'Hello' },
  call: [
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: ID, type: 'function', function: { name: NAME, arguments: { count: 1 } } }],
    },
    { role: 'tool', content: '2', name: NAME, tool_call_id: ID },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: NAME,
        description: 'Counts.',
        parameters: {
          type: 'object',
          properties: { count: { type: 'integer', description: 'A number.' } },
          required: ['count'],
        },
      },
    },
  ],
} as const;

const ARGUMENTS = String.raw`\{\s*"count":\s*1\s*\}`;

/** Hermes, Qwen: `<tool_call>{"name": "f", "arguments": {}}</tool_call>` for each call. */
function inTags(rendered: string): CallForm | null {
  const call = String.raw`(<tool_call>\s*\{\s*"name":\s*")${NAME}("\s*,\s*"arguments":\s*)${ARGUMENTS}(\s*\}\s*</tool_call>)`;
  const [, before, between, after] = new RegExp(call).exec(rendered) ?? [];
  if (before === undefined || between === undefined || after === undefined) return null;
  return {
    trigger: '<tool_call>',
    followsText: true,
    open: '',
    before,
    between,
    after,
    separator: '\n',
    close: '',
    hasShortIds: false,
  };
}

/** Mistral: `[TOOL_CALLS][{"name": "f", "arguments": {}}]`. The ids of the calls in a prompt are not generated. */
function inList(rendered: string): CallForm | null {
  const call = String.raw`(\[TOOL_CALLS\]\s*\[\s*)(\{\s*"name":\s*")${NAME}("\s*,\s*"arguments":\s*)${ARGUMENTS}`;
  const [, open, before, between] = new RegExp(call).exec(rendered) ?? [];
  if (open === undefined || before === undefined || between === undefined) return null;
  return {
    trigger: '[TOOL_CALLS]',
    followsText: true,
    open,
    before,
    between,
    after: '}',
    separator: ', ',
    close: ']',
    hasShortIds: true,
  };
}

/** Llama 3: `{"name": "f", "parameters": {}}` as the whole answer. */
function asAnswer(rendered: string): CallForm | null {
  const call = String.raw`(\{\s*"name":\s*")${NAME}("\s*,\s*"parameters":\s*)${ARGUMENTS}(\s*\})`;
  const [, before, between, after] = new RegExp(call).exec(rendered) ?? [];
  if (before === undefined || between === undefined || after === undefined) return null;
  return {
    trigger: before,
    followsText: false,
    open: '',
    before,
    between,
    after,
    separator: null,
    close: '',
    hasShortIds: false,
  };
}

/** A further form needs an entry here. The first one that fits counts. */
const forms = [inTags, inList, asAnswer];

/** Returns the form of the call in a rendered conversation, or null if it has none that is known. */
export function callFormIn(rendered: string): CallForm | null {
  for (const form of forms) {
    const found = form(rendered);
    if (found) return found;
  }
  return null;
}
