import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { Service } from '../tests/support/service.js';
import { readyProject, register } from '../tests/support/workspace.js';

async function main() {
  const service = await Service.start({ databaseUrl: null });
  const admin = await register(service, 'Ada');
  await readyProject(service, admin.token);
  const child = spawn(
    process.execPath,
    [
      process.argv[2] as string,
      `${service.url}/openai/v1`,
      '-k',
      admin.apiKey,
      '-m',
      'Capitals',
      '--no-bench',
      '--no-save',
      '--no-color',
      '--full',
      ...process.argv.slice(3),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  console.log(await text(child.stdout));
  await service.stop();
}
void main();
