import { ServingProcess } from './serving-process.js';

/** Stands in for the service: serves a file, says so, and waits for its end. `node serving-parent-program.js <file>` */
async function main(): Promise<void> {
  const serving = await ServingProcess.start(process.argv[2] ?? '');
  process.send?.({ pid: serving.pid, url: serving.url });
  setInterval(() => undefined, 60_000);
}

void main();
