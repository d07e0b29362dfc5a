import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from '../../application/accounts/ports.js';
import type { Message } from '../../domain/accounts/message.js';
import { composeMail } from './compose-mail.js';

/** Writes each message as an `.eml` file that only the service's user can read. A mail sent twice is one file. */
export class FolderMailer implements Mailer {
  private readonly transport = createTransport({ streamTransport: true, buffer: true });

  constructor(
    private readonly folder: string,
    private readonly from: string,
  ) {}

  async send(id: string, message: Message): Promise<string> {
    const { message: bytes } = await this.transport.sendMail(composeMail(id, message, this.from));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `${id}.eml`);
    await writeFile(`${path}.part`, bytes as Buffer, { mode: 0o600 });
    await rename(`${path}.part`, path);
    return path;
  }
}
