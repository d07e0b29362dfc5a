import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './until.js';

/** A service that writes its e-mails into files. */
type Sender = { readonly dataDir: string };

/** Returns the texts of the e-mails in the outbox folder of a service, oldest first. */
export async function mails(service: Sender): Promise<string[]> {
  const outbox = join(service.dataDir, 'outbox');
  const names = await readdir(outbox).catch(() => []);
  const letters = names.filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(letters.map((name) => readFile(join(outbox, name), 'utf8')));
}

/** Waits until more than `beyond` e-mails with such a token have come. Returns the token of the newest one. */
export async function mailedToken(
  service: Sender,
  address: string,
  prefix: 'tnv' | 'tnr',
  beyond = 0,
): Promise<string> {
  let token: string | undefined;
  await until(`a mail with ${prefix}_ has come to ${address}`, async () => {
    const own = (await mails(service)).filter((mail) => mail.includes(`<${address}>`) && mail.includes(`${prefix}_`));
    if (own.length > beyond) token = new RegExp(`${prefix}_[0-9A-Za-z]{49}`).exec(own.at(-1) ?? '')?.[0];
    return token !== undefined;
  });
  return token as string;
}
