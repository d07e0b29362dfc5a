import { port } from '../../shared/port.js';

/** What a process tells the others of itself. */
export interface ProcessIdentity {
  /** What people call it. */
  readonly name: string;
  /** Where the others reach it. */
  readonly url: string;
}

/** Which processes of the service live: known, not guessed from how long ago they were heard of. */
export interface LivingProcesses {
  /**
   * This process's own number, the same at each call; no other process ever had it. It is known to live from the first
   * call on until it ends, however it ends. Only the first call takes time.
   */
  own(): Promise<number>;
  /** Makes this process known to live again where its line to the database broke. */
  renew(): Promise<void>;
  /** Those of the numbers whose processes are not known to live just now. */
  missing(numbers: readonly number[]): Promise<number[]>;
  /** Tells the others what this process is called and where they reach it; once. */
  introduce(identity: ProcessIdentity): Promise<void>;
  /** What a process has said that people call it, or null; remembered at least as long as the process lives. */
  name(number: number): Promise<string | null>;
  /**
   * Where a process is reached just now: null where it is not known to live, has not told, or has taken that back. Never
   * remembered, since where one no longer listens anybody may.
   */
  url(number: number): Promise<string | null>;
  /** Takes back where this process is reached; for before it listens no more. It still lives. */
  withdraw(): Promise<void>;
  /** This process is not known to live any more. */
  leave(): Promise<void>;
}
export const LivingProcesses = port<LivingProcesses>('jobs.LivingProcesses');
