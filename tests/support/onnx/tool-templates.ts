import { withFields } from './model-folders.js';

/** Chat templates that write calls as well-known models do, and only the names of tools, because the context is short. */
const turns = (call: string) =>
  '{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool.function.name }} {% endfor %}<|im_end|>\n{% endif %}' +
  "{% for message in messages %}<|im_start|>{{ message.role + '\n' + message.content }}" +
  `{% if message.tool_calls %}${call}{% endif %}<|im_end|>\n{% endfor %}` +
  '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

export const toolTemplates = {
  /** Hermes and Qwen. */
  tags: turns(
    '{% for call in message.tool_calls %}<tool_call>\n' +
      '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>' +
      '{% if not loop.last %}\n{% endif %}{% endfor %}',
  ),
  /** Mistral. */
  list: turns(
    '[TOOL_CALLS][{% for call in message.tool_calls %}' +
      "{% if call.id | length != 9 %}{{ raise_exception('An id has nine characters.') }}{% endif %}" +
      '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}, "id": "{{ call.id }}"}' +
      '{% if not loop.last %}, {% endif %}{% endfor %}]',
  ),
  /** Llama 3. */
  json: turns(
    "{% if message.tool_calls | length > 1 %}{{ raise_exception('Only one call.') }}{% endif %}" +
      '{% for call in message.tool_calls %}' +
      '{"name": "{{ call.function.name }}", "parameters": {{ call.function.arguments | tojson }}}{% endfor %}',
  ),
} as const;

export type ToolTemplate = keyof typeof toolTemplates;

/** For `ModelFolders.like`. */
export const withToolTemplate = (form: ToolTemplate) => ({
  'tokenizer_config.json': withFields({ chat_template: toolTemplates[form] }),
});
