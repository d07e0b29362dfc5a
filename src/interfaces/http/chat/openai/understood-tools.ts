/** Describes the tools of a request to OpenAI's API, and earlier calls of them. */
import { z } from 'zod';
import { toolLimits } from '../../../../domain/chat/chat.js';
import { fitsTools, toolMessages } from '../../../../domain/chat/tools.js';
import { AnyObject, text, truth, wanted } from '../../schemas.js';

const anObject = { error: wanted('an object') };
const isFunction = z.literal('function', { error: wanted('"function"') });
const Name = text().regex(toolLimits.name, { error: toolMessages.name }).meta({ example: 'get_weather' });

const definition = {
  name: Name,
  description: text().nullish(),
  parameters: AnyObject.nullish().describe(
    'A JSON schema of an object. Without it, the function takes an empty object.',
  ),
};

const Tool = z
  .strictObject(
    {
      type: isFunction,
      function: z.strictObject(
        {
          ...definition,
          strict: truth().nullish().describe('Without effect: an ONNX model always keeps to the schema.'),
        },
        anObject,
      ),
    },
    anObject,
  )
  .meta({ id: 'ChatTool' });

const Named = z.strictObject({ type: isFunction, function: z.strictObject({ name: text() }, anObject) }, anObject);

const choices = 'must be none, auto, required, or an object that names a function or allowed tools';

const ToolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    Named,
    z.strictObject({
      type: z.literal('allowed_tools'),
      allowed_tools: z.strictObject({ mode: z.enum(['auto', 'required']), tools: z.array(Named).min(1) }),
    }),
  ],
  { error: choices },
);

const most = { error: toolMessages.tools };

export const toolFields = {
  tools: z.array(Tool, most).max(toolLimits.tools, most).nullish().describe('The functions that the model may call.'),
  tool_choice: ToolChoice.nullish().describe('Only with `tools`. The default is `auto`.'),
  parallel_tool_calls: truth().nullish().describe('If false, an answer has at most one call.'),
  functions: z
    .array(z.strictObject(definition, anObject), most)
    .max(toolLimits.tools, most)
    .nullish()
    .describe('The older form of `tools`. The answer has `function_call` in place of `tool_calls`.'),
  function_call: z
    .union([z.enum(['none', 'auto']), z.strictObject({ name: text() })], {
      error: 'must be none, auto, or an object with the name of a function',
    })
    .nullish()
    .describe('The older form of `tool_choice`.'),
};

/** Libraries send further fields of a call back, such as its index. */
export const EarlierCall = z.looseObject(
  { id: text(), function: z.looseObject({ name: text(), arguments: text() }, anObject) },
  anObject,
);

export const EarlierFunctionCall = z.looseObject({ name: text(), arguments: text() }, anObject);

type Fields = z.output<z.ZodObject<typeof toolFields>>;
type Path = (string | number)[];

/** Calls `refuse` for tools that do not fit together. */
export function checkTools(fields: Fields, refuse: (path: Path, message: string) => void): void {
  const { tools, functions, tool_choice: choice, function_call: older } = fields;
  if (tools && functions) refuse(['functions'], 'cannot stand beside tools');
  const all = (tools ?? []).map((one) => one.function);
  checkNames(all, (i) => ['tools', i, 'function', 'name'], refuse);
  checkNames(functions ?? [], (i) => ['functions', i, 'name'], refuse);
  if (!fitsTools(all.map(({ parameters }) => parameters))) refuse(['tools'], toolMessages.schemas);
  if (!fitsTools((functions ?? []).map(({ parameters }) => parameters))) refuse(['functions'], toolMessages.schemas);
  checkChoice('tool_choice', choice ?? 'none', all, refuse);
  checkChoice('function_call', older ?? 'none', functions ?? [], refuse);
}

type Named = { readonly name: string };

function checkNames(all: readonly Named[], pathOf: (i: number) => Path, refuse: (path: Path, message: string) => void) {
  const again = all.findIndex(({ name }, i) => all.findIndex((one) => one.name === name) < i);
  if (again >= 0) refuse(pathOf(again), toolMessages.unique);
}

function checkChoice(
  field: 'tool_choice' | 'function_call',
  choice: NonNullable<Fields['tool_choice'] | Fields['function_call']>,
  all: readonly Named[],
  refuse: (path: Path, message: string) => void,
): void {
  if (choice === 'none') return;
  if (all.length === 0) {
    const of = field === 'tool_choice' ? toolMessages.noTools : 'is only for requests with functions';
    refuse([field], of);
    return;
  }
  const unknown = namesIn(choice).some((name) => !all.some((one) => one.name === name));
  if (unknown) refuse([field], toolMessages.choice);
}

function namesIn(choice: NonNullable<Fields['tool_choice'] | Fields['function_call']>): string[] {
  if (typeof choice === 'string') return [];
  if ('name' in choice) return [choice.name];
  if (choice.type === 'function') return [choice.function.name];
  return choice.allowed_tools.tools.map((tool) => tool.function.name);
}
