import { join } from 'node:path';
import { Service } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { Stage } from './peers.js';
import { compare, difference, medianOf, type Target, wanted } from './rounds.js';

/**
 * Measures the time that the service adds to a prediction, compared with direct calls to the model server. The caller
 * calls both in turns, so that both calls reach an idle model server. An idle process answers later than a busy one.
 * `npm run bench:prediction-gateway [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;

const NAME = 'iris';
const input = { name: 'input', shape: [1, 4], datatype: 'FP32', data: [5.1, 3.5, 1.4, 0.2] };
const infer = { path: `/v2/models/${NAME}/infer`, body: JSON.stringify({ inputs: [input] }) };
const predict = { path: '/predict', body: JSON.stringify({ inputs: { input: [input.data] } }) };

async function main(): Promise<void> {
  const stage = await Stage.open();
  const models = join(process.cwd(), 'tests/fixtures/onnx');
  const service = await Service.start({
    databaseUrl: await stage.database('ours'),
    env: { SERVICE_MODELS_DIR: models },
  });
  try {
    const { token, apiKey } = await register(service, 'Ada');
    const { body } = await service.post('/v1/deployments', token, { name: NAME, model_path: 'iris.onnx' });
    const direct = { base: body.url, headers: {} };
    const through = {
      base: `${service.url}/v1/deployments/${body.id}`,
      headers: { authorization: `Bearer ${apiKey}` },
      pid: service.pid,
    };
    const target = (name: string, { base, ...by }: typeof direct, { path, body }: typeof infer): Target => ({
      name,
      url: base + path,
      body,
      ...by,
    });
    const { times } = await compare(
      [
        target('direct infer', direct, infer),
        target('infer', through, infer),
        target('direct', direct, predict),
        target('predict', through, predict),
      ],
      { rounds: ROUNDS, callers: CALLERS, inTurns: true, postgres: stage.postgres },
    );
    for (const [name, alone] of Object.entries({ infer: 'direct infer', predict: 'direct' }))
      wanted(`ms added to ${name}`, medianOf(times[name], times[alone], difference), 'at most', 0.7);
  } finally {
    await service.stop();
    await stage.close();
  }
}

void main();
