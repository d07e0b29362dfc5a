import { UsageError } from './arguments.js';
import type { Terminal } from './terminal.js';

export interface ChosenPassword {
  readonly password: string;
  /** To be shown, since nobody else knows it. */
  readonly made: boolean;
}

/** By the terminal's person, from standard input, or made. Throws UsageError. */
export async function choosePassword(
  terminal: Terminal,
  fromStdin: boolean,
  make: () => string,
): Promise<ChosenPassword> {
  if (fromStdin) {
    const password = await terminal.piped();
    if (password === '') throw new UsageError('there is no password on standard input');
    return { password, made: false };
  }
  if (!terminal.interactive) return { password: make(), made: true };
  const password = await terminal.secret('Password (nothing: one is made and shown): ');
  if (password === '') return { password: make(), made: true };
  if ((await terminal.secret('Once more: ')) !== password) throw new UsageError('the two passwords differ');
  return { password, made: false };
}
