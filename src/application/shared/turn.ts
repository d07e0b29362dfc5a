/**
 * A whole turn of the event loop: what has arrived by now is read, and dealt with as far as nothing else is waited for.
 * Where nothing has, it takes no time.
 */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
