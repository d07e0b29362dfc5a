import { signal } from '@preact/signals';
import { SESSION, stored } from './stored-session.js';

/**
 * The session token is in sessionStorage, which ends with the tab. Browsers send cookies by themselves, so other pages
 * could abuse one. Scripts can read sessionStorage, so the security policy of the pages runs only their own scripts.
 * A new tab gets the token from another open tab of the same browser, so that a link opens in a new tab without a
 * sign-in.
 */
const NEW_KEY = 'tenon.new-key';
const ANSWER_WITHIN_MS = 150;

const store = (name: string, value: string | null): void => {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {}
};

/** The token of the session, or null if the user is signed out. */
export const token = signal<string | null>(stored(SESSION));

const tabs = new BroadcastChannel(SESSION);
tabs.onmessage = ({ data }) => {
  if (data === 'ask' && token.value) tabs.postMessage({ token: token.value });
  if (!token.value || data?.signedOut !== token.value) return;
  forgetSession({ tellOthers: false });
  leaveForSignIn();
};
export function keepSession(value: string): void {
  token.value = value;
  store(SESSION, value);
}

/** Forgets the session, also in other tabs with the same session. */
export function forgetSession({ tellOthers = true } = {}): void {
  if (tellOthers) tabs.postMessage({ signedOut: token.value });
  token.value = null;
  store(SESSION, null);
  store(NEW_KEY, null);
}

/** Takes over the session of another open tab. Returns false if there is none. */
export async function takeSessionOfAnotherTab(): Promise<boolean> {
  if (token.value) return true;
  const asking = new BroadcastChannel(SESSION);
  const answer = await new Promise<string | null>((resolve) => {
    asking.onmessage = ({ data }) => data?.token && resolve(data.token);
    asking.postMessage('ask');
    setTimeout(() => resolve(null), ANSWER_WITHIN_MS);
  });
  asking.close();
  if (answer) keepSession(answer);
  return answer !== null;
}

/** Keeps the API key of a registration until the console shows it. */
export const leaveNewKey = (key: string): void => store(NEW_KEY, key);

/** Returns the API key that the registration just made, and forgets it. The service does not return it again. */
export function takeNewKey(): string | null {
  const key = stored(NEW_KEY);
  store(NEW_KEY, null);
  return key;
}

/**
 * Forgets the session in this tab, and goes to the sign-in page, which then returns to the present place. A session that
 * has ended would lead from there back here.
 */
export function leaveForSignIn(): void {
  forgetSession({ tellOthers: false });
  const next = location.hash.slice(1) || '/';
  location.replace(`auth#next=${encodeURIComponent(next)}`);
}
