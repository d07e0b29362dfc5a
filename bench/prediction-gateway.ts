import { join } from 'node:path';
import { Service } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { compare, medianOf, type Target } from './rounds.js';

/**
 * Measures the time that the service adds to a prediction, compared with direct calls to the model server. The caller
 * calls both in turns, so that both calls reach an idle model server. An idle process answers later than a busy one.
 * `npm run bench:prediction-gateway [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const MOST_MS = 1.5;

const NAME = 'iris';
const input = { name: 'input', shape: [1, 4], datatype: 'FP32', data: [5.1, 3.5, 1.4, 0.2] };
const infer = { path: `/v2/models/${NAME}/infer`, body: JSON.stringify({ inputs: [input] }) };
const predict = { path: '/predict', body: JSON.stringify({ inputs: { input: [input.data] } }) };

async function main(): Promise<void> {
  const service = await Service.start({
    databaseUrl: null,
    env: { SERVICE_MODELS_DIR: join(process.cwd(), 'tests/fixtures/onnx') },
  });
  const { token, apiKey } = await register(service, 'Ada');
  const { body: deployment } = await service.post('/v1/deployments', token, { name: NAME, model_path: 'iris.onnx' });
  const headers = { authorization: `Bearer ${apiKey}` };
  const target = (name: string, url: string, { path, body }: typeof infer, headers = {}): Target => ({
    name,
    url: url + path,
    headers,
    body,
  });
  const through = `${service.url}/v1/deployments/${deployment.id}`;
  const { times } = await compare(
    [
      target('direct infer', deployment.url, infer),
      target('infer', through, infer, headers),
      target('direct', deployment.url, predict),
      target('predict', through, predict, headers),
    ],
    ROUNDS,
    CALLERS,
    { inTurns: true },
  );
  for (const [name, direct] of Object.entries({ infer: 'direct infer', predict: 'direct' })) {
    const share = medianOf(times[name], times[direct], (a, b) => a - b);
    console.log(`the service's share of ${name} is ${share.toFixed(2)} ms, at most ${MOST_MS} is wanted`);
    if (!(share <= MOST_MS)) process.exitCode = 1;
  }
  await service.stop();
}

void main();
