import { HttpClient } from '../http-client/http-client.js';

const TIMEOUT_MS = 10_000;

/** Matches codes such as `no_service`. Any other text could contain the URL, which may be secret. */
const CODE = /^[a-z_]{1,60}$/;

/**
 * Posts JSON once, with the user and password of the URL as basic authentication. Throws unless an answer with a status
 * of 200 to 299 arrives within 10 s. Throws the signal's reason if aborted. No error contains the path or the password.
 */
export async function postJson(url: string, json: unknown, signal: AbortSignal): Promise<void> {
  const { username, password } = new URL(url);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = username !== '' && { Authorization: `Basic ${Buffer.from(user).toString('base64')}` };
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const { status, text } = await HttpClient.once(url, { method: 'POST', headers: { ...basic }, json, signal: within });
  if (status >= 200 && status < 300) return;
  throw new Error(`answered with status ${status}${CODE.test(text) ? `: ${text}` : ''}`);
}
