import type { DeliveryOutcome } from '../../application/alerts/ports.js';
import { HttpClient, retryAfterOf } from '../http-client/http-client.js';

/** Matches codes such as `no_service`. Any other text could contain the URL, which may be secret. */
const CODE = /^[a-z_]{1,60}$/;

/** A later attempt can succeed after these statuses: timeout, too early, too many requests. */
const TEMPORARY = [408, 425, 429];

/**
 * Posts JSON once, with the user and password of the URL as basic authentication. Returns what an adapter of
 * AlertNotifier must return. Throws without an answer. No reason and no error contains the path or the password.
 */
export async function postJson(url: string, json: unknown, signal: AbortSignal): Promise<DeliveryOutcome> {
  const { username, password } = new URL(url);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = username !== '' && { Authorization: `Basic ${Buffer.from(user).toString('base64')}` };
  const { status, headers, text } = await HttpClient.once(url, { method: 'POST', headers: { ...basic }, json, signal });
  if (status >= 200 && status < 300) return { result: 'delivered' };
  const reason = `answered with status ${status}${CODE.test(text) ? `: ${text}` : ''}`;
  const canHelp = status >= 500 || TEMPORARY.includes(status);
  if (!canHelp) return { result: 'failed', reason };
  return { result: 'retry', reason, pauseMs: (retryAfterOf(headers) ?? 0) * 1_000 };
}
