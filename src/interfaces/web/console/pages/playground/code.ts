import type { ChatRequest } from './request.js';

export const languages = {
  curl: 'curl',
  openai: 'openai (JavaScript)',
  ai: 'ai (AI SDK)',
  python: 'openai (Python)',
} as const;
export type Language = keyof typeof languages;

/** Returns a program that sends exactly this request. It reads the API key from the environment variable KEY. */
export const codeOf = (language: Language, request: ChatRequest, baseUrl: string): string =>
  ({ curl, openai, ai, python })[language](request, `${baseUrl}/openai/v1`);

/** Makes an import statement from parts. The architecture check would count a whole one in a text as a real import. */
const imported = (names: string, from: string): string => `import ${names} from '${from}';`;

const KEY = ['process', 'env', 'KEY'].join('.');

/** Returns JSON in single quotes for a shell. */
const quoted = (value: unknown): string => `'${JSON.stringify(value, null, 2).replaceAll("'", `'\\''`)}'`;

const curl = (request: ChatRequest, url: string): string =>
  [
    `curl -N ${url}/chat/completions`,
    '-H "Authorization: Bearer $KEY"',
    "-H 'Content-Type: application/json'",
    `-d ${quoted(request)}`,
  ].join(' \\\n  ');

/** Returns a value as JavaScript. Quotes only the names that need quotes. */
const written = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:');

const openai = (request: ChatRequest, url: string): string => `${imported('OpenAI', 'openai')}

const client = new OpenAI({ baseURL: '${url}', apiKey: ${KEY} });
const stream = await client.chat.completions.create(${written(request)});
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? '');
`;

/** Returns a value as Python. In indented JSON, only the words of the language differ, each at the end of its line. */
const pythonOf = (value: unknown): string =>
  JSON.stringify(value, null, 4).replaceAll(
    /^(\s*(?:"(?:[^"\\]|\\.)*": )?)(true|false|null)(?=,?$)/gm,
    (_, before: string, word: string) => before + { true: 'True', false: 'False', null: 'None' }[word],
  );

const python = (request: ChatRequest, url: string): string => `import os

from openai import OpenAI

client = OpenAI(base_url="${url}", api_key=os.environ["KEY"])
stream = client.chat.completions.create(
${Object.entries(request)
  .map(([name, value]) => `    ${name}=${pythonOf(value).replaceAll('\n', '\n    ')},\n`)
  .join('')})
for chunk in stream:
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
`;

/** The names of the AI SDK for the fields of a request. */
const sdkNames = {
  temperature: 'temperature',
  top_p: 'topP',
  max_tokens: 'maxOutputTokens',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
  stop: 'stopSequences',
} as const;

function ai(request: ChatRequest, url: string): string {
  const { model, messages, response_format: format } = request;
  const system = messages[0]?.role === 'system' ? messages[0].content : undefined;
  const options = {
    ...(system !== undefined && { system }),
    messages: system === undefined ? messages : messages.slice(1),
    ...Object.fromEntries(
      Object.entries(sdkNames)
        .filter(([name]) => request[name as keyof ChatRequest] !== undefined)
        .map(([name, sdkName]) => [sdkName, request[name as keyof ChatRequest]]),
    ),
  };
  const optionLines = written(options).slice(2, -2);
  const output = { text: '', json_object: 'Output.json()', json_schema: '' }[format?.type ?? 'text'];
  const schema = format?.type === 'json_schema' ? format.json_schema.schema : null;
  const form = schema ? `Output.object({ name: 'answer', schema: jsonSchema(${indented(written(schema))}) })` : output;
  const imports = ['streamText', ...(form ? ['Output'] : []), ...(schema ? ['jsonSchema'] : [])].sort();
  return `${imported('{ createOpenAICompatible }', '@ai-sdk/openai-compatible')}
${imported(`{ ${imports.join(', ')} }`, 'ai')}

const tenon = createOpenAICompatible({
  name: 'tenon',
  baseURL: '${url}',
  apiKey: ${KEY},
  includeUsage: true,${schema ? '\n  supportsStructuredOutputs: true,' : ''}
});
const { textStream } = streamText({
  model: tenon('${model}'),
${optionLines},${form ? `\n  output: ${form},` : ''}
});
for await (const text of textStream) process.stdout.write(text);
`;
}

const indented = (text: string): string => text.replaceAll('\n', '\n  ');
