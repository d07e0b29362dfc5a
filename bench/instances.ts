import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  register,
  registeredModel,
  untilState,
} from '../tests/support/workspace.js';
import { makeModel } from './chat-engine/model.js';

/**
 * Measures 24 concurrent chats on one instance, and spread evenly over three instances. Prints the time of all chats
 * and the tokens of each instance. Three instances are faster only if there are processors for them. Fails if the
 * tokens are not spread evenly. `npm run bench:instances [tokens of an answer]`
 */
const TOKENS = Number(process.argv[2] ?? 64);
const CHATS = 24;
const INSTANCES = 3;
const MASTER_KEY = 'key-of-the-benchmark';

async function main(): Promise<void> {
  const dataDir = await temporaryFolder();
  const database = await startEmbeddedPostgres({ folder: join(dataDir, 'database') });
  const model = join(dataDir, 'models/chat');
  mkdirSync(model, { recursive: true });
  makeModel(model);
  const env = (nth: number) => ({
    SERVICE_INSTANCE_NAME: `instance-${nth}`,
    SERVICE_MASTER_KEY: MASTER_KEY,
    SERVICE_INFERENCE_TIMEOUT_S: '600',
  });
  const instances: Service[] = [];
  try {
    for (let nth = 1; nth <= INSTANCES; nth++)
      instances.push(await Service.start({ databaseUrl: database.url, dataDir, env: env(nth) }));
    const [first] = instances as [Service];
    const admin = await register(first, 'Ada');
    const project = await createProject(first, admin.token);
    const modelId = await registeredModel(first, admin.token, project, { runtime: 'onnx', path: 'chat' });
    const runtime = `/v1/projects/${project}/runtime`;
    await first.put(runtime, admin.token, { model_id: modelId });
    await first.post(`${runtime}/start`, admin.token);
    for (const one of instances) await untilState(one, admin.token, project, 'ready');

    await measure('one instance', [first], project, admin);
    const shares = await measure(`${INSTANCES} instances`, instances, project, admin);
    if (Math.max(...shares) > 1.1 * Math.min(...shares)) process.exitCode = 1;
  } finally {
    for (const one of instances) await one.stop();
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Prints the time of all chats. Returns the tokens that each instance made. */
async function measure(name: string, instances: readonly Service[], project: string, { apiKey }: Member) {
  const before = await Promise.all(instances.map(tokensOf));
  const begun = performance.now();
  const chats = Array.from({ length: CHATS }, async (_, nth) => {
    const instance = instances[nth % instances.length] as Service;
    const json = ask(project, 'Tell me a story.', { max_tokens: TOKENS });
    const { status, body } = await instance.call('POST', completions(project), { token: apiKey, json });
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  });
  await Promise.all(chats);
  const seconds = (performance.now() - begun) / 1000;
  const shares = await Promise.all(instances.map(async (one, nth) => (await tokensOf(one)) - (before[nth] as number)));
  console.log(`${name}: ${CHATS} chats in ${seconds.toFixed(1)} s, tokens of each instance: ${shares.join(', ')}`);
  return shares;
}

async function tokensOf(instance: Service): Promise<number> {
  const { body } = await instance.get('/metrics', MASTER_KEY);
  const counts = String(body).matchAll(/^tenon_chat_completion_tokens_total\S* (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

void main();
