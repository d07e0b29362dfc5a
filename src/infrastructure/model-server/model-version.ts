/** The version of a model file, which has no other. Stands apart: zod would take memory in the thread for large bodies. */
export const MODEL_VERSION = '1';
