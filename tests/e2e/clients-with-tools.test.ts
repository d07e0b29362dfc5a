import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import Instructor, { type Mode } from '@instructor-ai/instructor';
import { ChatOpenAI } from '@langchain/openai';
import { tool as llamaTool } from '@llamaindex/core/tools';
import { OpenAI as LlamaIndex } from '@llamaindex/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents';
import { tool as aiTool, generateObject, generateText, stepCountIs, streamText } from 'ai';
import OpenAI from 'openai';
import { zodFunction, zodResponsesFunction } from 'openai/helpers/zod';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { sendJson } from '../support/local-server.js';
import { ModelFolders } from '../support/onnx/model-folders.js';
import { withToolTemplate } from '../support/onnx/tool-templates.js';
import { chunk, completion, type Script, ScriptedEngine, speaking, streaming } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { type Member, readyProject, register } from '../support/workspace.js';

const run = promisify(execFile);

const prompt = 'What is the weather in Paris?';
const messages = [{ role: 'user' as const, content: prompt }];
const Place = z.object({ city: z.enum(['Paris', 'Rome']) });
const description = 'Tells the weather in a city.';
/** Keeps answers of a model that was not made for tools short. */
const LENGTH = 80;

const folders = new ModelFolders();
let engine: ScriptedEngine;
let service: Service;
let admin: Member;

/** The names of the projects. The first model is an ONNX model that is not trained for tools, the second is elsewhere. */
const models = ['gpt-4o-mini', 'gpt-4o'];
const elsewhere = models[1];

beforeAll(async () => {
  engine = await ScriptedEngine.start();
  engine.script = assistant;
  const folder = folders.like(withToolTemplate('tags'));
  service = await Service.start({
    env: {
      SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
      SERVICE_MODELS_DIR: dirname(folder),
    },
  });
  admin = await register(service, 'Ada');
  const specs = [
    { runtime: 'onnx', path: basename(folder) },
    { runtime: 'openai', base_url: engine.url, model: 'm' },
  ];
  for (const [i, spec] of specs.entries()) {
    const project = await readyProject(service, admin.token, spec);
    await service.put(`/v1/projects/${project}`, admin.token, { version: 1, spec: {}, name: models[i] });
  }
});
afterAll(async () => {
  await service.stop();
  await engine.close();
  folders.remove();
});

/** Answers as a model that knows tools and formats. */
const assistant: Script = (asked, response) => {
  const { messages: said, tools, functions, response_format: format, model, stream } = asked.body;
  const json = '{"city":"Paris"}';
  const name = tools?.[0]?.function.name ?? functions?.[0]?.name;
  if (said.at(-1).role === 'tool') speaking('It is sunny.')(asked, response);
  else if (name !== undefined) {
    const called = { name, arguments: json };
    const call = functions
      ? { function_call: called }
      : { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] };
    const end = functions ? 'function_call' : 'tool_calls';
    if (stream)
      streaming(
        chunk(model, { role: 'assistant', content: null, ...call }),
        chunk(model, {}, end),
        '[DONE]',
      )(asked, response);
    else
      sendJson(
        response,
        200,
        completion(model, null, {
          choices: [{ index: 0, message: { role: 'assistant', content: null, ...call }, finish_reason: end }],
        }),
      );
  } else if (JSON.stringify(said).includes('json schema:') && !format)
    speaking(`\`\`\`json\n${json}\n\`\`\``)(asked, response);
  else speaking(format ? json : undefined)(asked, response);
};

const baseURL = () => `${service.url}/openai/v1`;
const options = () => ({ baseURL: baseURL(), apiKey: admin.apiKey });
const openai = () => new OpenAI({ ...options(), maxRetries: 0 });
const langchain = (model: string, over: object = {}) =>
  new ChatOpenAI({
    model,
    apiKey: admin.apiKey,
    maxTokens: LENGTH,
    maxRetries: 0,
    configuration: { baseURL: baseURL() },
    ...over,
  });

/** Calls a tool with each library. Returns the arguments. */
const callers: Record<string, (model: string) => Promise<unknown>> = {
  'openai, chat': async (model) => {
    const tools = [zodFunction({ name: 'weather', parameters: Place })];
    const { choices } = await openai().chat.completions.parse({ model, messages, tools, tool_choice: 'required' });
    return choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments;
  },
  'openai, chat, streamed': async (model) => {
    const tools = [zodFunction({ name: 'weather', parameters: Place })];
    const stream = openai().chat.completions.stream({ model, messages, tools, tool_choice: 'required' });
    const { choices } = await stream.finalChatCompletion();
    return choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments;
  },
  'openai, chat, runTools': async (model) => {
    const { called, run } = noting();
    const weather = {
      name: 'weather',
      description,
      parameters: z.toJSONSchema(Place),
      parse: JSON.parse,
      function: run,
    };
    const tool_choice = { type: 'function' as const, function: { name: 'weather' } };
    const tools = [{ type: 'function' as const, function: weather as never }];
    await openai().chat.completions.runTools({ model, messages, tools, tool_choice }).done();
    return called[0];
  },
  'openai, responses': async (model) => {
    const tools = [zodResponsesFunction({ name: 'weather', parameters: Place })];
    const { output } = await openai().responses.parse({ model, input: prompt, tools, tool_choice: 'required' });
    const [call] = output.filter((item) => item.type === 'function_call');
    return call?.parsed_arguments;
  },
  'openai, responses, streamed': async (model) => {
    const tools = [zodResponsesFunction({ name: 'weather', parameters: Place })];
    const stream = openai().responses.stream({ model, input: prompt, tools, tool_choice: 'required' });
    const [call] = (await stream.finalResponse()).output.filter((item) => item.type === 'function_call');
    return call?.parsed_arguments;
  },
  '@ai-sdk/openai, responses': (model) => ofAi(createOpenAI(options())(model)),
  '@ai-sdk/openai, chat': (model) => ofAi(createOpenAI(options()).chat(model)),
  '@ai-sdk/openai-compatible': (model) => ofAi(createOpenAICompatible({ name: 'tenon', ...options() })(model)),
  '@openai/agents, responses': (model) => ofAgents(model, true),
  '@openai/agents, chat': (model) => ofAgents(model, false),
  '@langchain/openai, bindTools': async (model) => {
    const bound = langchain(model).bindTools([{ name: 'weather', description, schema: Place }], {
      tool_choice: 'required',
    });
    return (await bound.invoke(prompt)).tool_calls?.[0]?.args;
  },
  '@langchain/openai, bindTools, responses': async (model) => {
    // The package leaves out `required`.
    const bound = langchain(model, { useResponsesApi: true }).bindTools(
      [{ name: 'weather', description, schema: Place }],
      { tool_choice: 'weather' },
    );
    return (await bound.invoke(prompt)).tool_calls?.[0]?.args;
  },
  '@llamaindex/openai': (model) => ofLlamaIndex(model, false),
  '@llamaindex/openai, streamed': (model) => ofLlamaIndex(model, true),
  '@anthropic-ai/sdk': async (model) => {
    const client = new Anthropic({ baseURL: `${service.url}/openai`, apiKey: admin.apiKey, maxRetries: 0 });
    const input_schema = z.toJSONSchema(Place) as Anthropic.Tool.InputSchema;
    const tools = [{ name: 'weather', description, input_schema }];
    const asked = { model, max_tokens: LENGTH, messages, tools, tool_choice: { type: 'any' as const } };
    const { content } = await client.messages.stream(asked).finalMessage();
    return content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))[0];
  },
};

/** A tool that notes the arguments of its calls. */
function noting() {
  const called: unknown[] = [];
  const run = (place: object) => {
    called.push(place);
    return 'sunny';
  };
  return { called, run };
}

async function ofAi(model: Parameters<typeof generateText>[0]['model']): Promise<unknown> {
  const { called, run } = noting();
  const weather = aiTool({ description, inputSchema: Place, execute: run });
  const asked = { model, prompt, tools: { weather }, toolChoice: 'required' as const, maxOutputTokens: LENGTH };
  await generateText({ ...asked, stopWhen: stepCountIs(1) });
  const streamed = streamText({ ...asked, stopWhen: stepCountIs(1) });
  await streamed.consumeStream();
  expect(called).toHaveLength(2);
  expect(Place.parse(called[1])).toEqual(called[1]);
  return called[0];
}

async function ofAgents(model: string, useResponses: boolean): Promise<unknown> {
  const { called, run } = noting();
  const weather = agentTool({ name: 'weather', description, parameters: Place, execute: run });
  const modelSettings = { toolChoice: 'required', maxTokens: LENGTH };
  const agent = new Agent({ name: 'Reporter', instructions: 'Be brief.', model, tools: [weather], modelSettings });
  const modelProvider = new OpenAIProvider({ ...options(), useResponses });
  const { finalOutput } = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, prompt);
  expect(finalOutput).toEqual(expect.any(String));
  if (model === elsewhere) expect(finalOutput).toBe('It is sunny.');
  return called[0];
}

async function ofLlamaIndex(model: string, isStreamed: boolean): Promise<unknown> {
  const { called, run } = noting();
  const weather = llamaTool({ name: 'weather', description, parameters: Place, execute: run });
  const llm = new LlamaIndex({ model, ...options(), maxRetries: 0, maxTokens: LENGTH });
  const asked = { messages, tools: [weather], additionalChatOptions: { tool_choice: 'required' as const } };
  const results: (typeof messages)[number][] = [];
  if (isStreamed) {
    const { stream, newMessages } = await llm.exec({ ...asked, stream: true });
    for await (const _ of stream);
    results.push(...(newMessages() as typeof messages));
  } else results.push(...((await llm.exec(asked)).newMessages as typeof messages));
  const { message } = await llm.chat({ messages: [...messages, ...results], tools: [weather] });
  if (model === elsewhere) expect(message.content).toBe('It is sunny.');
  return called[0];
}

const modes: Mode[] = ['TOOLS', 'FUNCTIONS', 'JSON', 'MD_JSON', 'JSON_SCHEMA'];

/** Asks for an object. */
const readers: Record<string, (model: string) => Promise<unknown>> = {
  ...Object.fromEntries(
    (['functionCalling', 'jsonSchema', 'jsonMode'] as const).map((method) => [
      `@langchain/openai, ${method}`,
      (model: string) => langchain(model).withStructuredOutput(Place, { method }).invoke(prompt),
    ]),
  ),
  '@ai-sdk/openai, responses': async (id) =>
    (await generateObject({ model: createOpenAI(options())(id), schema: Place, prompt })).object,
  ...Object.fromEntries(
    modes.map((mode) => [
      `@instructor-ai/instructor, ${mode}`,
      async (model: string) => {
        const client = Instructor({ client: openai() as never, mode });
        const Schema = z3.object({ city: z3.enum(['Paris', 'Rome']) });
        const { _meta, ...place } = await client.chat.completions.create({
          model,
          messages,
          max_retries: 0,
          max_tokens: LENGTH,
          response_model: { schema: Schema, name: 'Place' },
        });
        return place;
      },
    ]),
  ),
};

/** These only describe the object in words, or describe it at a length that the ONNX model has no space for. */
const inWords = /jsonMode|instructor, (MD_)?JSON/;
const readersFor = (model: string) =>
  Object.entries(readers).filter(([name]) => model === elsewhere || !inWords.test(name));

describe.each(models)('the model %s', (model) => {
  it.each(Object.entries(callers))('is called by %s, and calls its tool', async (_, called) => {
    const place = await called(model);
    expect(Place.parse(place)).toEqual(place);
  });
  it.each(readersFor(model))('answers an object to %s', async (_, read) => {
    const place = await read(model);
    expect(Place.parse(place)).toEqual(place);
  });
});

it('runs the example of tools in docs/openai-clients.md', async () => {
  const root = join(__dirname, '../..');
  const page = readFileSync(join(root, 'docs/openai-clients.md'), 'utf8');
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].filter(([, code]) => code?.includes("'Assistant'"));
  const [[, code = ''] = []] = examples;
  const program = code.replace("'Assistant'", `'${elsewhere}'`).replace('http://127.0.0.1:8080', service.url);
  const env = { ...process.env, KEY: admin.apiKey };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env });
  expect(stdout).toBe('It is sunny.');
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny in Paris, 21 °C' };
  expect(engine.asked.at(-1)?.body.messages.at(-1)).toMatchObject(result);
});
