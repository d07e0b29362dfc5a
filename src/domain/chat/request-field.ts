import type { ChatRequest, RequestMessage, Sampling } from './chat.js';
import { UnknownParameter, UnsupportedParameter } from './errors.js';

type OptionalKeys<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T];

/** A field of a request, of its sampling or of its messages that an engine may refuse. */
export type OptionalField =
  | Exclude<OptionalKeys<ChatRequest>, 'sampling' | 'cutToContext' | 'leaveOutOldest' | 'verbatim' | 'passedOn'>
  | OptionalKeys<Sampling>
  | Exclude<OptionalKeys<RequestMessage>, undefined>;

/** Returns the name of the field in the HTTP interface. */
export function nameOf(field: string): string {
  if (field === 'parts') return 'content';
  if (field === 'topLogprobs') return 'logprobs';
  if (field === 'texts') return 'prompt';
  if (field === 'choices') return 'n';
  if (field === 'templateFields') return 'chat_template_kwargs';
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Throws UnsupportedParameter or UnknownParameter for the first field of the request that an engine with these fields
 * lacks. First throws what `requireUnderstood` of a verbatim request throws. Returns the request without its verbatim form.
 */
export function requireSupported(request: ChatRequest, supported: ReadonlySet<OptionalField>): ChatRequest {
  const { verbatim, ...understood } = request;
  verbatim?.requireUnderstood();
  const { messages, maxTokens: _, temperature: _temperature, sampling, ...rest } = understood;
  const { cutToContext: _cut, leaveOutOldest: _oldest, passedOn: _passedOn, unknown, ...others } = rest;
  const [field] = Object.keys(unknown ?? {});
  if (field !== undefined && !supported.has('unknown')) throw new UnknownParameter(field);
  for (const [i, { role: _role, content: _content, parts, ...message }] of messages.entries()) {
    const hasOthers = parts?.some((part) => !('text' in part));
    if (hasOthers && !supported.has('parts'))
      throw new UnsupportedParameter(`messages[${i}].content`, 'can only be text for this model');
    requireAll(message, supported, `messages[${i}].`);
  }
  requireAll({ ...others, ...sampling }, supported);
  return understood;
}

function requireAll(fields: object, supported: ReadonlySet<string>, path = ''): void {
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined && !supported.has(field))
      throw new UnsupportedParameter(path + nameOf(field), 'is not supported by this model');
}
