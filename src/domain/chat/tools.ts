import { InvalidRequest } from '../shared/errors.js';
import { type ChatRequest, toolLimits } from './chat.js';

const { tools: most, name: nameForm, schemasLength } = toolLimits;

export const toolMessages = {
  tools: `must be an array of at most ${most} tools`,
  name: 'must have 1 to 64 letters, digits, underscores and hyphens',
  unique: 'must be different from the names of the other tools',
  schemas: `must have schemas with at most ${schemasLength} characters together`,
  choice: 'must name one of the tools',
  noTools: 'is only for requests with tools',
} as const;

export const fitsTools = (schemas: readonly unknown[]): boolean =>
  schemas.reduce<number>((sum, one) => sum + (JSON.stringify(one)?.length ?? 0), 0) <= schemasLength;

/** Throws InvalidRequest if the tools exceed a limit. Dialects check this themselves, to name the wrong field. */
export function requireUsableTools({ tools = [], toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>): void {
  const names = new Set(tools.map(({ name }) => name));
  const refuse = (path: string, message: string) => {
    throw new InvalidRequest([{ path, message }]);
  };
  if (tools.length > most) refuse('tools', toolMessages.tools);
  if (names.size < tools.length) refuse('tools', `have names of which each ${toolMessages.unique}`);
  if (![...names].every((name) => nameForm.test(name)))
    refuse('tools', `have names of which each ${toolMessages.name}`);
  if (!fitsTools(tools.map(({ parameters }) => parameters))) refuse('tools', toolMessages.schemas);
  if (typeof toolChoice === 'object' && !names.has(toolChoice.tool)) refuse('tool_choice', toolMessages.choice);
  if (toolChoice === 'required' && tools.length === 0) refuse('tool_choice', toolMessages.noTools);
}
