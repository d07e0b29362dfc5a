/** Lets everything else that waits have its turn. For between long steps: no step may take much of 100 ms. */
export const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
