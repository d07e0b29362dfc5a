/** Maps the tools of OpenAI's API, and its older functions, to the engine-neutral chat. */
import type { ChatRequest, Tool, ToolCall, ToolChoice } from '../../../../domain/chat/chat.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { given, isText, string } from './json-fields.js';

type Tools = Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** Returns whether the answer has `function_call` in place of `tool_calls`. */
export const usesFunctions = ({ tools, functions }: JsonObject): boolean =>
  !Array.isArray(tools) && Array.isArray(functions);

/** With functions, an answer has at most one call. */
export function toolsOf(json: JsonObject): Tools {
  if (usesFunctions(json)) {
    const tools = (json.functions as Json[]).flatMap((one, i) => toolOf(one, `functions.${i}.parameters`));
    return { tools, parallelToolCalls: false, ...given({ toolChoice: olderChoiceOf(json.function_call) }) };
  }
  const choice = given({ toolChoice: toolChoiceOf(json.tool_choice) });
  if (!Array.isArray(json.tools)) return choice;
  const allowed = allowedIn(json.tool_choice);
  const tools = json.tools
    .flatMap((one, i) => toolOf(isObject(one) ? one.function : undefined, `tools.${i}.function.parameters`))
    .filter(({ name }) => !allowed || allowed.includes(name));
  return { tools, ...choice, ...(json.parallel_tool_calls === false && { parallelToolCalls: false }) };
}

function toolOf(json: Json | undefined, place: string): Tool[] {
  if (!isObject(json) || !isText(json.name)) return [];
  const { name, description, parameters, strict } = json;
  const fields = {
    description: string(description),
    parameters: isObject(parameters) ? parameters : undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  };
  return [{ name, ...given(fields), place }];
}

export function toolCallOf(json: Json): ToolCall[] {
  const called = isObject(json) ? json.function : undefined;
  if (!isObject(json) || !isObject(called)) return [];
  const { id } = json;
  const { name, arguments: text } = called;
  return isText(id) && isText(name) && isText(text) ? [{ id, name, arguments: text }] : [];
}

/** Returns an id for a call of a function, which has none. */
export const olderId = (name: string): string => `call_${name}`;

export function olderCallOf(json: Json | undefined): ToolCall[] | undefined {
  if (!isObject(json)) return undefined;
  const { name, arguments: text } = json;
  return isText(name) && isText(text) ? [{ id: olderId(name), name, arguments: text }] : undefined;
}

function toolChoiceOf(json: Json | undefined): ToolChoice | undefined {
  if (json === 'auto' || json === 'none' || json === 'required') return json;
  if (!isObject(json)) return undefined;
  const { function: named, allowed_tools: allowed } = json;
  if (isObject(allowed)) return allowed.mode === 'required' ? 'required' : 'auto';
  return isObject(named) && isText(named.name) ? { tool: named.name } : undefined;
}

function olderChoiceOf(json: Json | undefined): ToolChoice | undefined {
  if (json === 'auto' || json === 'none') return json;
  return isObject(json) && isText(json.name) ? { tool: json.name } : undefined;
}

/** Returns the names of the allowed tools, or null if all are allowed. */
function allowedIn(choice: Json | undefined): string[] | null {
  const allowed = isObject(choice) ? choice.allowed_tools : undefined;
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return null;
  return allowed.tools.flatMap((one) => {
    const named = isObject(one) ? one.function : undefined;
    return isObject(named) && isText(named.name) ? [named.name] : [];
  });
}
