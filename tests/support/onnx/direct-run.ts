import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DirectTensor } from './direct-program.js';

export type { DirectTensor };

/** The runtime itself in a process of its own, since it doesn't know the arrays of jest's sandbox. */
export class DirectRun {
  private readonly child: ChildProcess;

  constructor(file: string) {
    const program = join(process.cwd(), 'dist/tests/support/onnx/direct-program.js');
    this.child = fork(program, [file], { execArgv: [], serialization: 'advanced' });
  }

  async run(feeds: Readonly<Record<string, DirectTensor>>): Promise<Record<string, DirectTensor>> {
    const [outputs] = await Promise.all([once(this.child, 'message'), this.child.send(feeds)]);
    return outputs[0];
  }

  end(): void {
    this.child.kill('SIGKILL');
  }
}
