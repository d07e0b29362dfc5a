import type { Tool, ToolCall } from '../../../src/domain/chat/chat.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyChat } from '../../support/onnx/model-folders.js';
import { type ToolTemplate, withToolTemplate } from '../../support/onnx/tool-templates.js';

const rig = new ChildRuntimesRig({ atOnce: 16, queue: 100 });
const folders = new ModelFolders();
afterAll(() => rig.runtimes.close().finally(() => folders.remove()));

const forms: ToolTemplate[] = ['tags', 'list', 'json'];
beforeAll(async () => {
  for (const form of forms)
    expect(await rig.start(folders.like(withToolTemplate(form)), form)).toMatchObject({ state: 'ready' });
});

const city = { type: 'object', properties: { city: { enum: ['Paris', 'Rome'] } }, required: ['city'] };
const tools: Tool[] = [
  { name: 'get_weather', description: 'Tells the weather.', parameters: city },
  {
    name: 'get_time',
    parameters: { type: 'object', properties: { zone: { type: 'integer', minimum: 0, maximum: 12 } } },
  },
  { name: 'stop' },
];

describe.each(forms)('a model with calls in the form of %s', (id) => {
  it('calls a tool', async () => {
    const about = { id, tools, toolChoice: 'required', maxTokens: 120 } as const;
    const answer = await rig.ask('What is the weather in Paris?', about);
    console.log(id, JSON.stringify(answer));
    const { answer: streamed, parts } = await rig.askInParts('What is the weather in Paris?', about);
    console.log(id, JSON.stringify(parts));
    console.log(JSON.stringify(await rig.ask('What is 7 + 5?', { id, tools, toolChoice: { tool: 'stop' } })));
    console.log(JSON.stringify(await rig.ask('What is 7 + 5?', { id, tools, sampling: { topLogprobs: 0 } })));
  });
});
