import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../..');
const parse = (env: Record<string, string> = {}) =>
  spawnSync('docker-compose', ['config'], { cwd: root, encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });

/** Without an engine. Debian's package `docker-compose` has it; `.ci/run` installs that where it can. */
const parser = parse().error === undefined;
if (!parser) console.warn('There is no docker-compose here: docker-compose.yml is not checked.');

(parser ? describe : describe.skip)('the compose file', () => {
  it('is understood, with one process or with several', () => {
    expect(parse()).toMatchObject({ status: 0, stdout: expect.stringMatching(/replicas: 1\n/) });
    expect(parse({ TENON_REPLICAS: '3' })).toMatchObject({ status: 0, stdout: expect.stringMatching(/replicas: 3\n/) });
  });

  it('opens nothing to the network, runs on read-only file systems, and names no secret but one for trying out', () => {
    const { stdout } = parse({ SERVICE_MASTER_KEY: '', POSTGRES_PASSWORD: '' });
    const ports = stdout.match(/^\s+- .*:\d+\/tcp$/gm) ?? [];
    expect(ports).toHaveLength(2);
    for (const port of ports) expect(port).toContain('127.0.0.1:');
    expect(stdout.match(/read_only: true/g)).toHaveLength(4);
    expect(stdout.match(/^ {2}\w+:\n(?= {4}(build|cap_add|cap_drop|image|healthcheck|environment))/gm)).toHaveLength(4);
    expect(stdout).toMatch(/SERVICE_MASTER_KEY: ''/);
  });
});
