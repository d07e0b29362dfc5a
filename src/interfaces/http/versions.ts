import { InvalidRequest } from '../../domain/shared/errors.js';

/** The versions that a caller says it last read: in the body, in `If-Match`, or in both. */
export function expectedVersions(inBody: readonly (number | undefined)[], ifMatch: number | undefined): number[] {
  const said = [...inBody, ifMatch].filter((version) => version !== undefined);
  if (said.length === 0) {
    throw new InvalidRequest([{ path: 'version', message: 'is required: the version that you last read' }]);
  }
  return said;
}

/** NaN, which no version equals, for a header that is not a single entity tag of this service. */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const tag = /^\s*(?:W\/)?"([1-9]\d{0,9})"\s*$/.exec(header);
  return tag ? Number(tag[1]) : Number.NaN;
}
