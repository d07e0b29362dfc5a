import type { DeliveryOutcome } from '../../application/alerts/ports.js';
import { HttpClient, retryAfterOf } from '../http-client/http-client.js';

/** Matches codes such as `no_service`. Any other text could contain the URL, which may be secret. */
const CODE = /^[a-z_]{1,60}$/;

/** A later attempt can succeed after these statuses: timeout, too early, too many requests. */
const TEMPORARY = [408, 425, 429];

/** Returns the outcome for the HTTP status of a receiver's answer, or for null if there was no answer. */
export function outcomeOf(status: number | null, reason: string, pauseMs = 0): DeliveryOutcome {
  if (status !== null && status >= 200 && status < 300) return { result: 'delivered' };
  const isTemporary = status === null || status >= 500 || TEMPORARY.includes(status);
  return isTemporary ? { result: 'retry', reason, pauseMs } : { result: 'failed', reason };
}

/**
 * Posts JSON once, with the user and password of the URL as basic authentication. Returns what an adapter of
 * AlertNotifier must return. Throws without an answer. No reason and no error contains the path or the password.
 */
export async function postJson(url: string, json: unknown, signal: AbortSignal): Promise<DeliveryOutcome> {
  const { username, password } = new URL(url);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = username !== '' && { Authorization: `Basic ${Buffer.from(user).toString('base64')}` };
  const { status, headers, text } = await HttpClient.once(url, { method: 'POST', headers: { ...basic }, json, signal });
  const reason = `answered with status ${status}${CODE.test(text) ? `: ${text}` : ''}`;
  return outcomeOf(status, reason, (retryAfterOf(headers) ?? 0) * 1_000);
}
