/** Tells whether the main pointer is a mouse. On a touch screen, the focus of a text input would open the keyboard. */
export const mayFocusInputs = (): boolean => matchMedia('(pointer: fine)').matches;
