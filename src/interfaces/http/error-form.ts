import type { Finding } from '../../domain/shared/errors.js';

/** A refusal before it has the form of its path. */
export interface Refused {
  readonly code: string;
  readonly error: string;
  readonly request_id: string;
  readonly details?: readonly Finding[];
}

/** The form of the refusals of some paths. */
export interface ErrorForm<Body extends object = object> {
  /** The prefix for the names of its components in the OpenAPI document. */
  readonly prefix: string;
  readonly covers: (path: string) => boolean;
  readonly body: (status: number, refused: Refused) => Body;
  /** Returns the JSON schema of a refusal with one of these codes. */
  readonly schema: (codes: readonly string[]) => object;
  /** Examples of findings, by code. */
  readonly findings: Readonly<Record<string, Finding>>;
}

/** Returns 400 for 422, which the APIs of OpenAI and Anthropic do not use. */
export const vendorStatus = (status: number): number => (status === 422 ? 400 : status);
