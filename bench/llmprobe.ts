import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Service } from '../tests/support/service.js';
import { readyProject, register } from '../tests/support/workspace.js';
import { wanted } from './rounds.js';

/**
 * Runs the public suite llmprobe on the shipped chat model. Prints its report, and its grades beside the wanted ones.
 * Ends with 1 if a grade is missed. `npm run bench:llmprobe`
 */
const program = join(dirname(require.resolve('llmprobe/package.json')), 'bin/dist/llmprobe.mjs');

async function main(): Promise<void> {
  const service = await Service.start({ databaseUrl: null });
  try {
    const admin = await register(service, 'Ada');
    await readyProject(service, admin.token);
    const options = [
      '--api-key',
      admin.apiKey,
      '--model',
      'Capitals',
      '--no-bench',
      '--no-save',
      '--no-color',
      '--full',
    ];
    const asked = [program, `${service.url}/openai/v1`, ...options];
    // The suite ends with a code other than 0 if a check fails.
    const { stdout } = await promisify(execFile)(process.execPath, asked).catch((error) => error);
    console.log(stdout);
    const [, report = ''] = stdout.split('SURFACE COVERAGE');
    const grade = (name: string) => Number(new RegExp(`^ *${name} +(\\d+(?:\\.\\d+)?)`, 'm').exec(report)?.[1]);
    const lacks = (name: string) => Number(report.includes(`\u2717 ${name}`));
    const met = [
      wanted('Core, of 9', grade('CORE'), 'at least', 9),
      // The others are pictures and a model that thinks.
      wanted('Extended, of 15', grade('EXTENDED'), 'at least', 13),
      ...['n>1 choices', 'previous_response_id chaining', 'background responses'].map((feature) =>
        wanted(`Frontier, lack of ${feature}`, lacks(feature), 'at most', 0),
      ),
      // One assertion of about 280 wants `[DONE]` at the end of a stream of Responses, where OpenAI sends none.
      wanted('conformance', grade('ENGINE CONFORMANCE'), 'at least', 99.6, ' %'),
    ];
    process.exitCode = Number(met.includes(false));
  } finally {
    await service.stop();
  }
}

void main();
