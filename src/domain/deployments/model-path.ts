import { ModelFileInvalid } from './errors.js';

/** Throws ModelFileInvalid for a path that climbs: with links, nobody can tell from it where that leads. */
export function refuseClimbing(path: string): void {
  if (path.split(/[\\/]/).includes('..')) throw new ModelFileInvalid('its path must not have a `..` segment.');
}
