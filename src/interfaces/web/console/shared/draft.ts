import { type Signal, signal } from '@preact/signals';
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
    sessionStorage.removeItem(placeOf(key)); // also if the new draft does not fit: an older one would come back
    if (draft !== null) sessionStorage.setItem(placeOf(key), JSON.stringify(draft));
  } catch {} // If the browser forbids storage or the storage is full, a reload loses the draft.
}

/** The drafts of this tab, by their keys in the storage. All components that use a draft share it. */
const drafts = new Map<string, Signal<unknown>>();

function draftOf<T>(key: string): Signal<T | null> {
  const place = placeOf(key);
  const known = drafts.get(place) ?? signal(stored(key));
  drafts.set(place, known);
  return known as Signal<T | null>;
}

/**
 * Keeps the unsaved input of the account by `key` until it is set to null. It survives a reload, a sign-out by the
 * service and a visit to another page. Another account that signs in does not see it.
 *
 * `keep` also takes a function. The function gets the current draft, so that a late answer does not drop newer input.
 */
export function useDraft<T>(
  key: string,
): readonly [draft: T | null, keep: (next: T | null | ((now: T | null) => T | null)) => void] {
  const draft = draftOf<T>(key);
  const keep = (next: T | null | ((now: T | null) => T | null)) => {
    draft.value = typeof next === 'function' ? (next as (now: T | null) => T | null)(draft.value) : next;
    store(key, draft.value);
  };
  return [draft.value, keep];
}
