/** The main pointer is a finger, so that the focus of a text input would open the keyboard on the screen. */
const isTouched = matchMedia('(pointer: coarse)');
/** The last act of the user was a key, for example Ctrl+K on the keyboard of a tablet. */
let hasKeys = false;

addEventListener('keydown', () => (hasKeys = true), true);
addEventListener('pointerdown', () => (hasKeys = false), true);

/** Tells whether a text input may get the focus by itself. */
export const mayFocusInputs = (): boolean => hasKeys || !isTouched.matches;
