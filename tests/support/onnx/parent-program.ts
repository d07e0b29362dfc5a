import { ChildRuntimesRig } from './child-runtimes-rig.js';

/**
 * Stands in for the service: runs the model of a folder, asks the model a question, and reports each stage. A test
 * kills this program and looks for orphans.
 *
 *   node parent-program.js <folder> [question]
 */
const [folder = '', text] = process.argv.slice(2);
const rig = new ChildRuntimesRig({ timeoutMs: 60_000 });

async function main(): Promise<void> {
  const starting = rig.start(folder);
  await rig.log.saw('chat runtime started');
  process.send?.({ stage: 'started', pid: rig.pid() });
  const { state } = await starting;
  if (text) rig.ask(text).catch(() => undefined);
  process.send?.({ stage: state, pid: rig.pid() });
}

void main();
