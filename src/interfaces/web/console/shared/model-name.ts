import type { Schemas } from './api.js';

/** Returns what people call a model: the name, path or engine's name in its spec, and the end of its id. */
export function modelName({ id, spec }: Pick<Schemas['Model'], 'id' | 'spec'>): string {
  const named = [spec.name, spec.path, spec.model].find((name) => typeof name === 'string' && name !== '');
  return `${named ?? 'Unnamed model'} · ${id.slice(-6)}`;
}
