import { signal } from '@preact/signals';

/**
 * Keeps the session token where the page for signing in (`/auth`) puts it: in sessionStorage, which ends with the tab.
 * Another tab of the same browser hands it to a new one, so that a link opens in a new tab without signing in.
 */
const NAME = 'tenon.session';
const NEW_KEY = 'tenon.new-key';
const ANSWER_WITHIN_MS = 150;

const stored = (name: string): string | null => {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // The browser forbids storage: a reload signs out.
  }
};

const store = (name: string, value: string | null): void => {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {}
};

/** Holds the token of the session. Null: signed out. */
export const token = signal<string | null>(stored(NAME));

const tabs = new BroadcastChannel('tenon.session');
tabs.onmessage = ({ data }) => {
  if (data === 'ask' && token.value) tabs.postMessage({ token: token.value });
  if (!token.value || data?.signedOut !== token.value) return;
  forgetSession({ tellOthers: false });
  leaveForSignIn();
};
// The back button may bring back a page as it was before the sign-out.
addEventListener('pageshow', ({ persisted }) => persisted && !token.value && leaveForSignIn());

export function keepSession(value: string): void {
  token.value = value;
  store(NAME, value);
}

/** Forgets the session, also in other tabs that have the same one. */
export function forgetSession({ tellOthers = true } = {}): void {
  if (tellOthers) tabs.postMessage({ signedOut: token.value });
  token.value = null;
  store(NAME, null);
  store(NEW_KEY, null);
}

/** Takes the session of another open tab. Returns false if there is none. */
export async function takeSessionOfAnotherTab(): Promise<boolean> {
  if (token.value) return true;
  const asking = new BroadcastChannel('tenon.session');
  const answer = await new Promise<string | null>((resolve) => {
    asking.onmessage = ({ data }) => data?.token && resolve(data.token);
    asking.postMessage('ask');
    setTimeout(() => resolve(null), ANSWER_WITHIN_MS);
  });
  asking.close();
  if (answer) keepSession(answer);
  return answer !== null;
}

/** Returns the API key that the sign-in just made, once. `/auth` leaves it here, since it is never shown again. */
export function takeNewKey(): string | null {
  const key = stored(NEW_KEY);
  store(NEW_KEY, null);
  return key;
}

/** Leaves for the page for signing in, which comes back to the place that is open now. */
export function leaveForSignIn(): void {
  const next = location.hash.slice(1);
  location.replace(`auth${next && next !== '/' ? `#next=${encodeURIComponent(next)}` : '#next=%2F'}`);
}
