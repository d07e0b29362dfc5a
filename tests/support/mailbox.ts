import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A service that writes its e-mails into files. */
type Sender = { readonly dataDir: string };

/** The texts of the e-mails that a service has written into its outbox folder, oldest first. */
export async function mails(service: Sender): Promise<string[]> {
  const outbox = join(service.dataDir, 'outbox');
  const names = await readdir(outbox).catch(() => []);
  const letters = names.filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(letters.map((name) => readFile(join(outbox, name), 'utf8')));
}

/** The token of that prefix in the newest e-mail to that address, once more than `beyond` of them have come. */
export async function mailedToken(
  service: Sender,
  address: string,
  prefix: 'tnv' | 'tnr',
  beyond = 0,
): Promise<string> {
  for (const until = Date.now() + 10_000; Date.now() < until; ) {
    const own = (await mails(service)).filter((mail) => mail.includes(`<${address}>`) && mail.includes(`${prefix}_`));
    const token = own.length > beyond && new RegExp(`${prefix}_[0-9A-Za-z]{49}`).exec(own.at(-1) ?? '');
    if (token) return token[0];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no mail with ${prefix}_ came to ${address}`);
}
