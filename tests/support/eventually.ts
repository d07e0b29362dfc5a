import { until } from './until.js';

/** Waits until `holds` is true. Throws long before the time limit of the test. */
export const eventually = (holds: () => boolean | Promise<boolean>): Promise<void> => until(`${holds}`, holds, 10);
