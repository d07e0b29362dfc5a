import type { PasswordBlocklist } from '../../application/accounts/ports.js';

/** The list of zxcvbn, read when it is first asked; or nothing at all where common passwords are not refused. */
export class ListedCommonPasswords implements PasswordBlocklist {
  private list: ReadonlySet<string> | null = null;

  constructor(private readonly refused: boolean) {}

  include(password: string): boolean {
    if (!this.refused) return false;
    this.list ??= new Set(listed());
    return this.list.has(password.toLowerCase());
  }
}

function listed(): readonly string[] {
  const { dictionary } = require('@zxcvbn-ts/language-common') as { dictionary: Record<string, readonly string[]> };
  return dictionary['passwords-common'] ?? [];
}
