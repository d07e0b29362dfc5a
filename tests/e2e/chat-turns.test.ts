import type { ServerResponse } from 'node:http';
import { completion, ScriptedEngine, send } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { ask, completions, type Member, readyProject, register } from '../support/workspace.js';

/** As many calls as an engine is given at once. */
const AT_ONCE = 32;

describe('callers of a busy engine', () => {
  let engine: ScriptedEngine;
  let service: Service;
  let greedy: Member;
  let modest: Member;
  let project: string;
  /** The calls that the engine works on, in the order in which they came, by what was asked. */
  const working = new Map<string, ServerResponse>();

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    engine.script = ({ body }, response) => working.set(body.messages[0].content, response);
    const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_CHAT_QUEUE: '5' };
    service = await Service.start({ env });
    greedy = await register(service, 'Ada');
    modest = await register(service, 'Mia');
    project = await readyProject(service, greedy.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
  });
  afterAll(async () => {
    await service.stop();
    await engine.close();
  });

  const call = async (by: Member, name: string, signal?: AbortSignal) => {
    const json = ask(project, name);
    const options = { token: by.apiKey, json, ...(signal && { signal }) };
    return service.call('POST', completions(project), options).catch(() => null);
  };
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`);
  /** The engine answers one call; resolves to what it is asked next. */
  const answer = async (name: string) => {
    const { length } = engine.asked;
    send(working.get(name) as ServerResponse, 200, completion('m', `about ${name}`));
    working.delete(name);
    await engine.wasAsked(length + 1);
    return engine.asked[length]?.body.messages[0].content;
  };

  it('are served in turns, and none of them fills the queue for others', async () => {
    const first = names('a', AT_ONCE).map((name) => call(greedy, name));
    await engine.wasAsked(AT_ONCE);
    // The queue takes five more, in whichever order they arrive; a sixth is one too many.
    const outcomes = new Map<string, number | undefined>();
    const noted = (by: Member, name: string) => call(by, name).then((it) => outcomes.set(name, it?.status));
    const waiting = names('w', 6).map((name) => noted(greedy, name));
    await Promise.race(waiting);
    expect([...outcomes.values()]).toEqual([429]);
    // Another account gets one of these places, and the next turn.
    const other = noted(modest, 'b1');
    await Promise.race(waiting.filter((_, n) => !outcomes.has(`w${n + 1}`)));
    expect([...outcomes.values()]).toEqual([429, 429]);
    expect(await answer('a1')).toBe('b1');
    expect(await answer('a2')).toMatch(/^w/);
    engine.script = ({ body }, response) => send(response, 200, completion('m', body.messages[0].content));
    for (const [name, response] of working) send(response, 200, completion('m', name));
    await Promise.all([...first, ...waiting, other]);
    expect([...outcomes.values()].sort()).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect((await Promise.all(first)).map((one) => one?.status)).toEqual(Array(AT_ONCE).fill(200));
  });
});
