import { InvalidRequest } from '../../domain/shared/errors.js';

type Said = readonly (number | undefined)[];

/** Lists the versions that the caller last read, from the body and from `If-Match`. */
export const saidVersions = (inBody: Said, ifMatch: number | undefined): number[] =>
  [...inBody, ifMatch].filter((version) => version !== undefined);

/** Does the same as `saidVersions`. Throws InvalidRequest if there is none. */
export function expectedVersions(inBody: Said, ifMatch: number | undefined): number[] {
  const said = saidVersions(inBody, ifMatch);
  if (said.length === 0) {
    throw new InvalidRequest([{ path: 'version', message: 'is required: the version that you last read' }]);
  }
  return said;
}

/**
 * Reads the version in `If-Match`. Returns undefined for `*`, and NaN, which equals no version, for text that is not a
 * single entity tag of this service.
 */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tag = /^\s*(?:W\/)?"([1-9]\d{0,9})"\s*$/.exec(header);
  return tag ? Number(tag[1]) : Number.NaN;
}
