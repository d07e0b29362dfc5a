/** Milliseconds by a clock that never jumps: for how long something takes, not for when it was. */
export const steadyMs = (): number => performance.now();
