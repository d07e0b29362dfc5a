import { Agent, request } from 'node:http';
import { type HostileRequest, hostileRequest } from '../../support/model-server/hostile-requests.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
import { residentMemory } from '../../support/onnx/processes.js';
import { SeededChance } from '../../support/onnx/seeded-chance.js';

/** Is the number of requests to each model. For more, set `TENON_TEST_HOSTILE=10000`. */
const REQUESTS = Number(process.env.TENON_TEST_HOSTILE ?? 300);
const AT_ONCE = 8;
const MEGABYTE = 1_024 * 1_024;

describe('hundreds of bad requests', () => {
  const agent = new Agent({ keepAlive: true });
  let serving: ServingProcess;
  afterEach(() => serving.end());
  afterAll(() => agent.destroy());

  /** Uses `http.request`, because `fetch` corrects paths and headers. */
  const send = ({ path, headers, body }: HostileRequest) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(serving.url);
      const all = { ...headers, 'Content-Length': body.length };
      const sent = request({ agent, hostname, port, path, method: 'POST', headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on('error', reject).end(body);
    });

  it.each([
    ['iris.onnx', null],
    ['multi.onnx', null],
    ['cnn.onnx', 8],
  ])('are all refused, and take little memory: %s', async (file, maxBatch) => {
    serving = await ServingProcess.start(fixture(file), { name: 'a model', maxBatch });
    const { inputs } = (await serving.get('/health')).body as { inputs: never[] };
    const chance = new SeededChance(11);
    const hostile = Array.from({ length: REQUESTS }, () => hostileRequest(chance, 'a model', inputs));
    const odd: unknown[] = [];
    const attack = async (some: readonly HostileRequest[]) => {
      const left = [...some];
      const attacker = async () => {
        for (let one = left.pop(); one; one = left.pop()) {
          const { status, text } = await send(one);
          if (!isRefusal(status, text)) odd.push([status, text.slice(0, 300), `${one.body}`.slice(0, 300)]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, attacker));
    };
    await attack(hostile);
    const warm = process.platform === 'linux' ? residentMemory(serving.pid) : 0;
    await attack(hostile);
    const grown = process.platform === 'linux' ? residentMemory(serving.pid) - warm : 0;
    expect(odd).toEqual([]);
    expect(serving.isAlive).toBe(true);
    expect(serving.output).toBe('');
    expect(grown).toBeLessThan(64 * MEGABYTE);
    expect((await serving.get('/health')).status).toBe(200);
  });
});

function isRefusal(status: number, text: string): boolean {
  if (status < 400 || status > 499) return false;
  const { status: said, code, error, request_id: id } = JSON.parse(text);
  return said === 'error' && [code, error, id].every((one) => typeof one === 'string' && one !== '');
}
