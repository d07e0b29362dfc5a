/**
 * Starts the real service and uses its API, from the first registration to an answered chat and an acknowledged alert.
 * Checks every step. The first unexpected answer ends the demo with exit code 1.
 */
import { DemoService } from './demo/service.js';
import { Deviation, expect, step } from './demo/steps.js';
import { walk } from './demo/walk.js';

async function main(): Promise<void> {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());
  const failed = (error: unknown) => {
    process.exitCode = 1;
    if (interrupt.signal.aborted) console.error('interrupted');
    else console.error(error instanceof Deviation ? error.message : error);
  };
  const service = new DemoService();
  const answer = await walk(service, interrupt.signal).catch(failed);
  const stopped = async () => {
    const end = await service.stop();
    if (!interrupt.signal.aborted) expect(end, 'exit code 0'); // an interrupted start can end in another way
    return end;
  };
  if (answer || service.running) await step('stop the service', stopped).catch(failed);
  service.remove();
  if (!process.exitCode) console.log(answer);
}

void main();
