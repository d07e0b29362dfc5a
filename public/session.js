/**
 * Stores the session token in sessionStorage: only this tab has it, and it ends with the tab. localStorage would keep
 * it after the visit. Browsers send cookies by themselves, so other pages could abuse one. Scripts can read
 * sessionStorage, so the security policy of the pages runs only their own scripts. A new API key is stored only until
 * the console shows it and removes it.
 */
const NAME = 'tenon.session';
const NEW_KEY = 'tenon.new-key';
let memory = null;

/** Runs `act` on the storage. Returns null if the browser forbids it; then a reload signs out. */
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
  leaveNewKey(key) {
    stored((storage) => storage.setItem(NEW_KEY, key));
  },
  forget() {
    memory = null;
    stored((storage) => storage.removeItem(NAME));
  },
};
