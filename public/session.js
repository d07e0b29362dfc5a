/**
 * The session token is kept in sessionStorage: only this tab has it, a reload keeps it, and the end of the tab ends it.
 * Not in localStorage, where it would outlast the visit, and not in a cookie, which browsers send by themselves and
 * which others' pages could abuse. A script can read it, so the policy of our pages lets no script run but our own.
 * The API key is kept nowhere: it is on the page until the page is left.
 */
const NAME = 'tenon.session';
let memory = null;

/** Storage may be forbidden; then a reload signs out. */
const stored = (act) => {
  try {
    return act(sessionStorage);
  } catch {
    return null;
  }
};

export const session = {
  get token() {
    return memory ?? stored((storage) => storage.getItem(NAME));
  },
  keep(token) {
    memory = token;
    stored((storage) => storage.setItem(NAME, token));
  },
  forget() {
    memory = null;
    stored((storage) => storage.removeItem(NAME));
  },
};
