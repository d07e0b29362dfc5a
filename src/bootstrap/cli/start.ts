import { once } from 'node:events';
import type { Invocation } from '../../interfaces/cli/commands.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import { startApp } from '../app.js';
import type { Config } from '../config/config.js';

/** Runs the service until `stopping` aborts. Prints one line when the service is ready. */
export async function start(config: Config, _: Invocation, terminal: Terminal, stopping: AbortSignal): Promise<void> {
  const service = await startApp(config, { stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error; // an aborted start has cleaned up
  });
  if (!service) return;
  terminal.out(`ready ${service.url}`);
  if (!stopping.aborted) await once(stopping, 'abort');
  await service.stop();
}
