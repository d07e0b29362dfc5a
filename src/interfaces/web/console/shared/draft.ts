import { useState } from 'preact/hooks';
import { user } from './account.js';

const placeOf = (key: string) => `tenon.draft.${user.value?.id} ${key}`;

function stored<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(placeOf(key)) ?? 'null');
  } catch {
    return null;
  }
}

function store(key: string, draft: unknown): void {
  try {
    if (draft === null) sessionStorage.removeItem(placeOf(key));
    else sessionStorage.setItem(placeOf(key), JSON.stringify(draft));
  } catch {} // The browser forbids storage, or it is full: a reload loses the draft.
}

/**
 * Keeps what the account has entered and not saved, by `key`, until it is set to null. It survives a reload, the end of
 * the session and a visit to another page. Another account that signs in does not see it.
 */
export function useDraft<T>(key: string): readonly [draft: T | null, keep: (draft: T | null) => void] {
  const [state, setState] = useState({ key, draft: stored<T>(key) });
  const { draft } = state.key === key ? state : { draft: stored<T>(key) };
  const keep = (next: T | null) => {
    store(key, next);
    setState({ key, draft: next });
  };
  return [draft, keep];
}
