/**
 * The version of every model file. It has a module of its own, because zod would take memory in the thread for large
 * bodies.
 */
export const MODEL_VERSION = '1';
