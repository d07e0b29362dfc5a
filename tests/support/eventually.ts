import { until } from './until.js';

/** Resolves once it holds; long before the test's own time is over it throws. */
export const eventually = (holds: () => boolean | Promise<boolean>): Promise<void> => until(`${holds}`, holds, 10);
