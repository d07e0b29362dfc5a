import { InvalidRequest } from '../../domain/shared/errors.js';

type Said = readonly (number | undefined)[];

/** The versions that a caller says it last read: in the body, in `If-Match`, in both, or nowhere. */
export const saidVersions = (inBody: Said, ifMatch: number | undefined): number[] =>
  [...inBody, ifMatch].filter((version) => version !== undefined);

/** As `saidVersions`, of which there must be one. */
export function expectedVersions(inBody: Said, ifMatch: number | undefined): number[] {
  const said = saidVersions(inBody, ifMatch);
  if (said.length === 0) {
    throw new InvalidRequest([{ path: 'version', message: 'is required: the version that you last read' }]);
  }
  return said;
}

/** `*` says nothing of a version. NaN, which no version equals, for a header that is not a single entity tag of this service. */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tag = /^\s*(?:W\/)?"([1-9]\d{0,9})"\s*$/.exec(header);
  return tag ? Number(tag[1]) : Number.NaN;
}
