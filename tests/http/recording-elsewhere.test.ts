import { FailoverRig } from '../support/failover-rig.js';
import { answering, chunk, completion, type Script, streaming } from '../support/scripted-engine.js';

const called = { id: 'call_1', type: 'function', function: { name: 'capital', arguments: '{"of":"Chile"}' } };
const neutral = { id: 'call_1', name: 'capital', arguments: '{"of":"Chile"}' };

describe('the kept call of an engine elsewhere', () => {
  let rig: FailoverRig;
  let project: string;
  let say: Script;

  beforeAll(async () => {
    rig = await FailoverRig.start();
    ({ id: project } = await rig.project(([model_id]) => ({ model_id })));
    const { body } = await rig.app.get(`/v1/projects/${project}`, rig.admin.token);
    const spec = { ...body.spec, record: { content: 'full', mask: ['email'] } };
    await rig.app.put(`/v1/projects/${project}`, rig.admin.token, { version: body.version, spec });
  });
  beforeEach(() => {
    rig.reset();
    Object.assign(rig.engines[0].paths, { chat: '/chat/completions' });
    rig.engines[0].script = (asked, response) => say(asked, response);
  });
  afterAll(() => rig.stop());

  const ask = (json: object = {}) =>
    rig.app.post('/openai/v1/chat/completions', rig.admin.apiKey, {
      ...{ model: project, messages: [{ role: 'user', content: 'Capital?' }], n: 2, some_unknown_field: 1 },
      ...json,
    });
  const last = async () => (await rig.app.get(`/v1/projects/${project}/calls?limit=1`, rig.admin.token)).body.calls[0];
  const answer = {
    ...{ content: 'I ask', tool_calls: [neutral], finish_reason: 'tool_calls' },
    others: [{ role: 'assistant', content: 'Write to [email]', finish_reason: 'stop' }],
  };

  it('has the tool calls and all choices of an answer that its caller gets unchanged', async () => {
    say = ({ body: { model } }, response) => {
      const choices = [
        {
          index: 0,
          message: { role: 'assistant', content: 'I ask', tool_calls: [called] },
          finish_reason: 'tool_calls',
        },
        { index: 1, message: { role: 'assistant', content: 'Write to ada@example.com' }, finish_reason: 'stop' },
      ];
      answering(200, completion(model, '', { id: 'chatcmpl-of-engine', choices }))({} as never, response);
    };
    const { body } = await ask();
    expect(body).toMatchObject({ id: 'chatcmpl-of-engine', choices: [{ message: { tool_calls: [called] } }, {}] });
    const call = await last();
    expect(call).toMatchObject({ answer_id: 'chatcmpl-of-engine', answer });
    const feedback = await rig.app.post('/v1/calls/chatcmpl-of-engine/feedback', rig.admin.apiKey, { score: 1 });
    expect(feedback.status).toBe(201);
    expect((await last()).feedback).toMatchObject([{ score: 1 }]);
  });

  it('has them of a stream, too', async () => {
    const [head, tail] = ['{"of":', '"Chile"}'];
    say = (asked, response) => {
      const { model } = asked.body;
      const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'capital', arguments: head } };
      const second = (delta: object, finish_reason: unknown = null) =>
        chunk(model, {}, null, { choices: [{ index: 1, delta, finish_reason }] });
      streaming(
        chunk(model, { role: 'assistant', content: 'I ' }),
        second({ role: 'assistant', content: 'Write to ada@exam' }),
        chunk(model, { content: 'ask', tool_calls: [call] }),
        chunk(model, { tool_calls: [{ index: 0, function: { arguments: tail } }] }),
        chunk(model, {}, 'tool_calls'),
        second({ content: 'ple.com' }),
        second({}, 'stop'),
        '[DONE]',
      )(asked, response);
    };
    const { body } = await ask({ stream: true });
    expect(String(body)).toContain('ple.com');
    expect(await last()).toMatchObject({ answer_id: 'chatcmpl-1', answer });
  });
});
