import type { PasswordBlocklist } from '../../application/accounts/ports.js';

/** The common passwords of zxcvbn, read at the first use; no password if the list is switched off. */
export class CommonPasswordBlocklist implements PasswordBlocklist {
  private list: ReadonlySet<string> | null = null;

  constructor(private readonly enabled: boolean) {}

  include(password: string): boolean {
    if (!this.enabled) return false;
    this.list ??= new Set(readList());
    return this.list.has(password.toLowerCase());
  }
}

function readList(): readonly string[] {
  const { dictionary } = require('@zxcvbn-ts/language-common') as { dictionary: Record<string, readonly string[]> };
  return dictionary['passwords-common'] ?? [];
}
