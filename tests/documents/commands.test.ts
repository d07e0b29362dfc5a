import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InferenceEngine } from '../support/inference-engine.js';
import { sendJson } from '../support/local-server.js';
import { mailedToken } from '../support/mailbox.js';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { completion, ScriptedEngine } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';

jest.setTimeout(300_000); // dozens of programs, one after another

const run = promisify(execFile);
const root = join(__dirname, '../..');

/** Returns a page, or one section of it. Leaves out the sections `without`. */
async function page(name: string, { section = '', without = [] as string[] } = {}): Promise<string> {
  const text = await readFile(join(root, name), 'utf8');
  const sections = text.split(/^(?=##+ )/m).filter((one) => !without.some((title) => one.startsWith(`## ${title}\n`)));
  const found = sections.filter((one) => one.replace(/^#+ /, '').startsWith(section));
  expect(found).not.toEqual([]);
  return found.join('');
}

const blocks = (language: string, text: string): string[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code = '']) => (name === language ? [code] : []));

/** Ends the script at the first refusal. curl accepts `-f`, which `-sf` contains, or `--fail-with-body`, not both. */
const STRICT = `set -euo pipefail
curl() { if [ "$1" = -sf ]; then command curl "$@"; else command curl --fail-with-body "$@"; fi; }
`;

const doubling = onnxFile({
  inputs: [['input', FLOAT, ['n', 4]]],
  outputs: [['output', FLOAT, ['n', 4]]],
  nodes: [{ op: 'Add', inputs: ['input', 'input'], outputs: ['output'] }],
});

/** The address of the engine in docs/engines. The tests replace it. */
const ENGINE = 'gpu.internal:8000';
const KEY = 'the-key-of-the-engine';

const { error } = spawnSync('curl', ['--version']);

/** Runs the commands and samples as they are written, one after another. */
(error ? describe.skip : describe)('the commands and samples', () => {
  let service: Service;
  let folder: string;
  let variables = '';

  beforeAll(async () => {
    service = await Service.start({
      env: {
        SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1',
        SERVICE_RUNTIME_ALLOWED_HOSTS: '127.0.0.1',
        SERVICE_RUNTIME_KEY_GPU: KEY,
      },
    });
    folder = await temporaryFolder();
    await symlink(service.dataDir, join(folder, 'data'));
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
    await rm(folder, { recursive: true });
  });

  /** Runs commands. Later commands see the variables that they set. */
  async function shell(commands: readonly string[]): Promise<string> {
    const here = commands.join('\n').replaceAll('http://127.0.0.1:8080', service.url);
    const names = 'base json token auth project model';
    const script = `${STRICT}${variables}\n${here}\n{ declare -p ${names}; declare -f field; } >variables`;
    const { stdout } = await run('bash', ['-c', script], { cwd: folder }).catch(({ stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`);
    });
    variables = await readFile(join(folder, 'variables'), 'utf8');
    return stdout;
  }

  it('of README.md, "A first answer", print the answer of the model', async () => {
    const output = await shell(blocks('sh', await page('README.md', { section: 'A first answer' })));
    expect(output).toMatch(/^The capital of France is Paris\.$/m);
  });

  it('of README.md for the openai library print the answer of the model', async () => {
    const [sample = ''] = blocks('js', await page('README.md', { section: 'With the `openai` library' }));
    const code = sample.replace('http://127.0.0.1:8080', service.url);
    const program = ['export KEY=$token', `node --input-type=module <<'CODE'\n${code}CODE`];
    expect(await shell([`cd '${root}'`, ...program, `cd '${folder}'`])).toBe('The capital of France is Paris.');
  });

  it('of docs/openai-clients.md stream an answer to its end', async () => {
    const output = await shell(blocks('sh', await page('docs/openai-clients.md')));
    expect(output).toMatch(/^data: \[DONE\]$/m);
  });

  it('of docs/using.md store a conversation', async () => {
    await mailedToken(service, 'ada@example.com', 'tnv');
    const output = await shell(['hook=http://127.0.0.1:9', ...blocks('sh', await page('docs/using.md'))]);
    expect(output).toContain('cnv_');
  });

  it('of docs/models.md get a prediction', async () => {
    await cp(join(root, 'models/tiny-chat'), join(folder, 'my-model'), { recursive: true });
    await mkdir(join(service.dataDir, 'models'), { recursive: true });
    await writeFile(join(service.dataDir, 'models/iris.onnx'), doubling);
    const output = await shell(
      blocks('sh', await page('docs/models.md', { without: ['Engines elsewhere', 'Models in S3'] })),
    );
    expect(output).toContain('"outputs"');
  });

  it.each(['vllm', 'llama-cpp', 'ollama', 'tgi'])('of docs/engines/%s.md get an answer', async (name) => {
    const engine = await ScriptedEngine.start();
    const text = await page(`docs/engines/${name}.md`);
    const { model, model_aliases: [named] = [model], key_setting } = JSON.parse(/spec='(.*?)'/s.exec(text)?.[1] ?? '');
    engine.key = key_setting ? KEY : null;
    engine.script = (_, response) => sendJson(response, 200, completion(named, 'Paris.'));
    const connect = await page('docs/engines/README.md', { section: 'Connect a chat engine' });
    const commands = blocks('sh', text + connect).map((block) => block.replaceAll(ENGINE, engine.host));
    const output = await shell(commands).finally(() => engine.close());
    expect(output).toContain('"content":"Paris."');
    expect(engine.asked).toMatchObject([{ body: { model } }]);
  });

  it.each(['triton', 'kserve', 'openvino'])('of docs/engines/%s.md get a prediction', async (name) => {
    const engine = await InferenceEngine.start();
    const text = await page(`docs/engines/${name}.md`);
    const { model_name: model, key_setting } = JSON.parse(/remote='(.*?)'/s.exec(text)?.[1] ?? '');
    Object.assign(engine, { key: key_setting ? KEY : null, ready: new Set([model]) });
    const connect = await page('docs/engines/README.md', { section: 'Connect an engine for predictions' });
    const commands = blocks('sh', text + connect).map((block) => block.replaceAll(ENGINE, engine.host));
    const output = await shell(commands).finally(() => engine.close());
    expect(output).toContain('"kind":"remote"');
    expect(output).toMatch(/"outputs":\{"y":.*\[11,7\]/);
  });
});
