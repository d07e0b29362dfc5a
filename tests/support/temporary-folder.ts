import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates its folder at the first use, so that a file with only skipped tests leaves none behind. */
export class TemporaryFolder {
  private created: string | null = null;

  get path(): string {
    this.created ??= realpathSync(mkdtempSync(join(tmpdir(), 'tenon-test-')));
    return this.created;
  }

  remove(): void {
    if (this.created) rmSync(this.created, { recursive: true, force: true });
    this.created = null;
  }
}
