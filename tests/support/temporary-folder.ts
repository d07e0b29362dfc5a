import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Made when it is first asked for, so that a file whose tests are all skipped leaves none behind. */
export class TemporaryFolder {
  private made: string | null = null;

  get path(): string {
    this.made ??= realpathSync(mkdtempSync(join(tmpdir(), 'tenon-test-')));
    return this.made;
  }

  remove(): void {
    if (this.made) rmSync(this.made, { recursive: true, force: true });
    this.made = null;
  }
}
