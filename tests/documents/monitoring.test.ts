import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { as, masterKey } from '../support/monitoring.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { ask, completions, readyProject, register } from '../support/workspace.js';

const docs = join(__dirname, '../../docs');
const shipped = (file: string) => readFileSync(join(docs, 'monitoring', file), 'utf8');

/** Programs from Debian's packages `prometheus` and `prometheus-alertmanager`. `.ci/run` installs them if it can. */
const missing = ['prometheus', 'promtool', 'prometheus-alertmanager', 'amtool'].filter(
  (program) => spawnSync(program, ['--version']).error,
);
if (missing.length > 0)
  console.warn(`Tests of Prometheus and Alertmanager are skipped: there is no ${missing.join(', ')}.`);
const withPrograms = missing.length > 0 ? describe.skip : describe;

const folder = new TemporaryFolder();
const children: ChildProcess[] = [];
let service: Service;
let engine: ScriptedEngine;
let slack: WebhookReceiver;
let ports: number[];
let metrics: string;

beforeAll(async () => {
  [engine, slack, ports] = [await ScriptedEngine.start(), await WebhookReceiver.start(), await freePorts(2)];
  service = await Service.start({
    alone: 'Prometheus scrapes each instance',
    env: {
      SERVICE_MASTER_KEY: masterKey,
      SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
      SERVICE_ALERTMANAGER_URL: `http://127.0.0.1:${ports[1]}`,
      SERVICE_SLACK_WEBHOOK_URL: slack.url,
    },
  });
  // A chat runtime has metrics of its own, and a call with a price has a cost.
  const spec = { runtime: 'openai', base_url: engine.url, model: 'any', prices: { input: 1, output: 1, per_call: 1 } };
  const { token } = await register(service, 'Ada');
  const project = await readyProject(service, token, spec);
  await service.post(completions(project), token, ask(project, 'Hello'));
  metrics = (await service.get('/metrics', masterKey)).body;
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([service.stop(), slack.stop(), engine.close()]);
  folder.remove();
});

/** Returns ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const found = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return found;
}

describe('the metrics', () => {
  /** Lists the labels that Prometheus adds. */
  const ADDED = ['instance', 'job', 'alertname', 'alertstate'];

  /** Returns the labels of each metric that the service has. */
  function known(): Map<string, Set<string>> {
    const found = new Map([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => [name, new Set(ADDED)]));
    for (const [, name = '', labels = ''] of metrics.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
      const all = found.get(name) ?? new Set(ADDED);
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) all.add(label);
      found.set(name, all);
    }
    return found;
  }

  it.each(['monitoring/rules.yml', 'monitoring/grafana/dashboards/tenon.json', 'monitoring/README.md', 'running.md'])(
    'that docs/%s names exist, with their labels',
    (file) => {
      const labels = known();
      const text = readFileSync(join(docs, file), 'utf8').replaceAll('\\"', '"');
      const named = [...text.matchAll(/\b((?:tenon|nodejs|process)_\w+)(?:\{(.*?)\})?/g)];
      expect(named.length).toBeGreaterThan(3);
      for (const [, name = '', matchers = ''] of named) {
        expect([...labels.keys()]).toContain(name);
        const matched = [...matchers.matchAll(/(\w+)\s*[=!]~?\s*"/g)].map(([, label]) => label);
        expect([...(labels.get(name) ?? [])]).toEqual(expect.arrayContaining(matched));
      }
      const all = [...labels.values()].flatMap((some) => [...some]);
      const grouped = [...text.matchAll(/\bby \((.*?)\)/g)].flatMap(([, list = '']) => list.split(', '));
      expect(all).toEqual(expect.arrayContaining(grouped));
    },
  );
});

withPrograms('the tools of Prometheus and Alertmanager', () => {
  it.each([
    'promtool check metrics',
    'promtool check rules rules.yml',
    'promtool test rules rules.test.yml',
    'promtool check config --syntax-only prometheus.yml',
    'amtool check-config alertmanager.yml',
  ])('accept what is shipped: %s', (command) => {
    const [program = '', ...args] = command.split(' ');
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: join(docs, 'monitoring'),
      input: metrics,
      encoding: 'utf8',
    });
    expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: '' });
  });
});

withPrograms('Prometheus and Alertmanager', () => {
  let prometheus: string;
  let alertmanager: string;

  beforeAll(async () => {
    [prometheus, alertmanager] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const file = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
    const targets = [new URL(service.url).host, '127.0.0.1:1']; // nothing listens at the second
    file('master-key', masterKey);
    file('rules.yml', shipped('rules.yml').replaceAll(/for: \w+/g, 'for: 0s'));
    file('alertmanager.yml', shipped('alertmanager.yml').replace('group_wait: 10s', 'group_wait: 1h')); // mails nothing
    file(
      'prometheus.yml',
      shipped('prometheus.yml')
        .replaceAll('15s', '1s')
        .replace('alertmanager:9093', new URL(alertmanager).host)
        .replace('/run/tenon/master-key', 'master-key')
        .replace(/dns_sd_configs:.*\n.*\n/, `static_configs: [{ targets: ${JSON.stringify(targets)} }]\n`),
    );
    const listening = (port = 0) => `--web.listen-address=127.0.0.1:${port}`;
    start('prometheus', '--config.file=prometheus.yml', '--storage.tsdb.path=tsdb', listening(ports[0]));
    const alone = ['--cluster.listen-address=', '--storage.path=alerts'];
    start('prometheus-alertmanager', '--config.file=alertmanager.yml', ...alone, listening(ports[1]));
    for (const url of [prometheus, alertmanager])
      await until(`${url} is ready`, () =>
        fetch(`${url}/-/ready`)
          .then(({ ok }) => ok)
          .catch(() => false),
      );
  });

  function start(program: string, ...args: string[]): void {
    children.push(spawn(program, args, { cwd: folder.path, stdio: 'ignore' }));
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test reads any answer
  const read = async (url: string): Promise<any> => (await fetch(url)).json();
  const query = async (expression: string) =>
    read(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expression })}`);
  const alerts = (filter: string) => read(`${alertmanager}/api/v2/alerts?${new URLSearchParams({ filter })}`);

  it('understand every query of the dashboard', async () => {
    const panels = JSON.parse(shipped('grafana/dashboards/tenon.json')).panels as { targets?: { expr: string }[] }[];
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) {
      const filled = expression.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5s');
      expect(await query(filled)).toMatchObject({ status: 'success' });
    }
  });

  it('show an alert of the service until it is acknowledged, and Slack gets both messages', async () => {
    const operator = as(service, masterKey);
    const rule = await operator.rule({ threshold: 1, name: 'training "<fails>"' });
    const job = await operator.ended('failed');
    const firing = () => alerts('service="tenon"');
    await until('the alert fires', async () => (await firing()).length > 0);
    const [alert] = await operator.alerts();
    expect(await firing()).toMatchObject([
      {
        labels: { alertname: rule.name, severity: 'P1', rule_id: rule.id, alert_id: alert.id, job_id: job.id },
        annotations: { summary: alert.title, description: alert.message },
        generatorURL: `${service.url}/v1/alerts/${alert.id}`,
      },
    ]);
    await operator.call('POST', `/v1/alerts/${alert.id}/ack`, { json: { note: 'The disk was full.' } });
    await until('the alert is resolved', async () => (await firing()).length === 0);
    await until('Slack knows', () => slack.posted.length === 2);
    await operator.call('POST', `/v1/alerts/${alert.id}/ack`); // sends nothing
    expect(slack.posted.map(({ body }) => JSON.parse(body).text)).toEqual([
      `[P1] ${alert.title}`,
      `Acknowledged: [P1] ${alert.title}`,
    ]);
    expect(readFileSync(join(service.dataDir, 'tenon.log'), 'utf8')).not.toContain('key=private');
  });

  // This test is the last one because Prometheus begins to scrape only after five seconds.
  it('scrape the service with the master key, and alert by the rules', async () => {
    const up = async () => (await query('tenon_database_up')).data.result;
    await until('a sample', async () => (await up()).length > 0);
    expect(await up()).toMatchObject([
      { metric: { job: 'tenon', instance: new URL(service.url).host }, value: [expect.any(Number), '1'] },
    ]);
    const { groups } = (await read(`${prometheus}/api/v1/rules`)).data;
    expect(groups[0].rules.map(({ name }: { name: string }) => name)).toContain('TenonDatabaseDown');
    const down = () => alerts('alertname="TenonDown"');
    await until('the other target is missed', async () => (await down()).length > 0);
    expect(await down()).toMatchObject([{ labels: { severity: 'P1', instance: '127.0.0.1:1' } }]);
  });
});
