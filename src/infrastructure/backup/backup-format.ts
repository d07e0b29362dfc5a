/**
 * A backup is one file: a line with the format's version, the sections as gzip, and a line with the digest of all before
 * it. Each section is a header, a JSON object, and any number of pieces of data. Header and piece stand in a frame: a byte
 * that says which it is, four with the length, and the content.
 */
export const FORMAT = 1;
export const HEAD = `tenon-backup ${FORMAT}\n`;
export const tailOf = (sha256: string): string => `\nsha256 ${sha256}\n`;
export const TAIL_LENGTH = tailOf('0'.repeat(64)).length;

export const FRAME_HEAD = 5;
export const FRAME_MOST = 256 * 1024;
export const frameKinds = { header: 0x48, data: 0x44, end: 0x45 } as const;
export type FrameKind = keyof typeof frameKinds;

/** What the sections are, in the order in which they come. */
export type SectionHeader =
  | {
      readonly kind: 'backup';
      readonly tenon: string;
      readonly created_at: string;
      /** Whether a section has the secret; otherwise it is a setting, and no part of the backup. */
      readonly secret: boolean;
    }
  | { readonly kind: 'secret' }
  /** The migrations that have made the tables. */
  | { readonly kind: 'database'; readonly migrations: readonly string[] }
  /** Rows as PostgreSQL's COPY writes them; tables come after those that they refer to. */
  | { readonly kind: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'sequence'; readonly name: string; readonly value: string }
  /** What waits in the work queue, as COPY writes it. */
  | { readonly kind: 'tasks'; readonly columns?: readonly string[] }
  /** With data only where `included`. */
  | {
      readonly kind: 'model_file';
      readonly folder: string;
      readonly path: string;
      readonly size: number;
      readonly sha256: string;
      readonly included: boolean;
    };

export interface Section {
  readonly header: SectionHeader;
  readonly chunks?: AsyncIterable<Uint8Array>;
}
