import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { json } from 'node:stream/consumers';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { ask, completions, readyProject, register } from '../support/workspace.js';

/** The silence after which a caller may be disconnected. */
const SILENCE_NS = 100 * 1_000_000;

/** Returns the outcome of a call: `200`, a refusal such as `503 shutting_down close`, or a connection error. */
async function outcomeOf(agent: Agent, url: string, token: string): Promise<string> {
  try {
    const sent = request(url, { agent, headers: { Authorization: `Bearer ${token}` } }).end();
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    const { code } = JSON.parse(text);
    return response.statusCode === 200 ? '200' : `${response.statusCode} ${code} ${response.headers.connection}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

describe('a service that shuts down under load', () => {
  it('answers every call that arrives on a keep-alive connection, and exits with 0', async () => {
    const service = await Service.start({ alone: 'its end' });
    const { token } = await register(service, 'Ada');
    const url = `${service.url}/v1/projects`;
    const outcomes = new Map<string, number>();
    const caller = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let outcome = '200'; outcome !== 'ECONNREFUSED'; ) {
        outcome = await outcomeOf(agent, url, token);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      agent.destroy();
    };
    const callers = Array.from({ length: 16 }, caller);
    const pauses = monitorEventLoopDelay({ resolution: 5 });
    while ((outcomes.get('200') ?? 0) < 200) await new Promise((resolve) => setTimeout(resolve, 10));
    pauses.enable();
    expect(await service.stop()).toBe(0);
    await Promise.all(callers);
    pauses.disable();
    outcomes.delete('503 shutting_down close');
    // Without processor time, a caller can be silent for longer than the service waits. Then its call comes too late.
    if (pauses.max > SILENCE_NS) for (const late of ['ECONNRESET', 'EPIPE']) outcomes.delete(late);
    expect([...outcomes.keys()].sort()).toEqual(['200', 'ECONNREFUSED']);
  });

  it('is not ready but still serves during the drain delay, then finishes the calls in flight', async () => {
    const service = await Service.start({
      alone: 'its end',
      env: { SERVICE_DRAIN_DELAY_S: '2', SERVICE_SHUTDOWN_TIMEOUT_S: '60' },
    });
    const { token, apiKey } = await register(service, 'Ada');
    const project = await readyProject(service, token);
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', Expect: '100-continue' };
    const inFlight = request(service.url + completions(project), { method: 'POST', headers });
    inFlight.flushHeaders();
    await once(inFlight, 'continue'); // the call has arrived, and continues during the shutdown
    service.signal('SIGTERM');
    let ready = await service.get('/health/ready');
    while (ready.status === 200) ready = await service.get('/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
    const answer = await service.get('/v1/projects', token);
    expect({ status: answer.status, connection: answer.headers.get('connection') }).toEqual({
      status: 200,
      connection: 'close',
    });
    expect((await service.get('/health/live')).status).toBe(200);
    await until('the service refuses new connections', () => refusesConnections(service));
    inFlight.end(JSON.stringify(ask(project, 'Count from 1 to 50.')));
    const [response] = await once(inFlight, 'response');
    const { choices } = (await json(response)) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toMatch(/50\.$/);
    expect(await service.stop()).toBe(0);
  });
});

const refusesConnections = (service: Service): Promise<boolean> =>
  service.get('/health/live').then(
    () => false,
    () => true,
  );
