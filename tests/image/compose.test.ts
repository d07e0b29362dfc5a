import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Debian's package `docker-compose`, which needs no engine for this; `.ci/run` installs it where it can. */
const { error, status, stdout, stderr } = spawnSync('docker-compose', ['config'], {
  cwd: join(__dirname, '../..'),
  encoding: 'utf8',
  env: { PATH: process.env.PATH, TENON_REPLICAS: '3' },
});
if (error) console.warn('There is no docker-compose here: docker-compose.yml is not checked.');

(error ? describe.skip : describe)('the compose file', () => {
  it('is understood, with as many processes as are asked for', () => {
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/replicas: 3\n/);
  });

  it('opens nothing to the network, and runs on read-only file systems', () => {
    const ports = stdout.match(/^\s+- .*:\d+\/tcp$/gm) ?? [];
    expect(ports).toHaveLength(2);
    for (const port of ports) expect(port).toContain('127.0.0.1:');
    expect(stdout.match(/read_only: true/g)).toHaveLength(4);
  });
});
