/** The name of the token of the session in sessionStorage. */
export const SESSION = 'tenon.session';

/** Returns a text in sessionStorage, or null if there is none. */
export const stored = (name: string): string | null => {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // the browser forbids storage, so a reload signs out
  }
};
