import { createTransport } from 'nodemailer';

const TIMEOUT_MS = 10_000;

/** Connects and signs in, and sends nothing. Throws what goes wrong. */
export async function reachesMailServer(url: string): Promise<void> {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const transport = createTransport({ url, ...timeouts });
  await transport.verify().finally(() => transport.close());
}
