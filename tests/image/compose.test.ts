import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

/** This command needs no Docker engine. `.ci/run` installs the Debian package `docker-compose` if it can. */
const { error, status, stdout, stderr } = spawnSync('docker-compose', ['config'], {
  cwd: root,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, TENON_REPLICAS: '3' },
});
if (error) console.warn('docker-compose is not installed: docker-compose.yml is not checked.');

(error ? describe.skip : describe)('docker-compose.yml', () => {
  it('is valid, and has the given number of instances', () => {
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/replicas: 3\n/);
  });

  it('opens nothing to the network, and runs on read-only file systems', () => {
    const ports = stdout.match(/^\s+- .*:\d+\/tcp$/gm) ?? [];
    expect(ports).toHaveLength(5);
    for (const port of ports) expect(port).toContain('127.0.0.1:');
    expect(stdout.match(/read_only: true/g)).toHaveLength(7);
  });

  it('starts the monitoring only with its profile, from images of fixed versions, with existing files', () => {
    const services = stdout.split(/^ {2}(?=\w+:$)/m);
    const monitoring = services.filter((service) => service.includes('profiles:\n    - monitoring\n'));
    expect(monitoring.map((service) => /image: (\S+)/.exec(service)?.[1])).toEqual([
      expect.stringMatching(/^prom\/alertmanager:v[\d.]+$/),
      expect.stringMatching(/^grafana\/grafana:[\d.]+$/),
      expect.stringMatching(/^prom\/prometheus:v[\d.]+$/),
    ]);
    const mounted = [...monitoring.join('').matchAll(/- (\/\S+):\S+:ro$/gm)].map(([, path]) => path as string);
    expect(mounted).toHaveLength(5);
    for (const path of mounted) expect(existsSync(path)).toBe(true);
    const keyFile = /credentials_file: (\S+)/.exec(readFileSync(join(root, 'docs/monitoring/prometheus.yml'), 'utf8'));
    expect(monitoring.join('')).toContain(`>${keyFile?.[1]})`);
  });
});
