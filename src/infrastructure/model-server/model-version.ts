/** The version of every model file. Not in `protocol.ts`, so that the thread for large bodies does not load zod. */
export const MODEL_VERSION = '1';
