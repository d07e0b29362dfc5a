/**
 * A backup is one file: a line with the version of the format, the sections as gzip, and a line with the digest of all
 * before. A section is a JSON header and any number of pieces of data. Each header and piece is framed by a byte for its
 * kind and four bytes for its length.
 */
export const FORMAT = 1;
export const HEAD = `tenon-backup ${FORMAT}\n`;
export const tailOf = (sha256: string): string => `\nsha256 ${sha256}\n`;
export const TAIL_LENGTH = tailOf('0'.repeat(64)).length;

export const FRAME_HEAD = 5;
export const FRAME_MOST = 256 * 1024;
export const frameKinds = { header: 0x48, data: 0x44, end: 0x45 } as const;
export type FrameKind = keyof typeof frameKinds;

/** The sections, in their order. */
export type SectionHeader =
  | {
      readonly kind: 'backup';
      readonly tenon: string;
      readonly created_at: string;
      /** False if the secret is a setting, and so no part of the backup. */
      readonly secret: boolean;
    }
  | { readonly kind: 'secret' }
  /** Names the migrations that made the tables. */
  | { readonly kind: 'database'; readonly migrations: readonly string[] }
  /** Rows in the format of COPY. A table follows all tables that it refers to. */
  | { readonly kind: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'sequence'; readonly name: string; readonly value: string }
  /** Tasks of the work queue, in the format of COPY. */
  | { readonly kind: 'tasks'; readonly columns?: readonly string[] }
  /** Has data only if `included`. */
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
