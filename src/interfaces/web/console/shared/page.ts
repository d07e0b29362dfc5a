import type { ComponentType } from 'preact';
import type { Permission } from './account.js';
import type { IconName } from './icon.js';

/** A page of the console. `pages.ts` lists all; the first whose path fits the address is shown. */
export interface Page {
  /** Such as `/projects/:project_id`; the parts with a colon are passed to `view`. */
  readonly path: string;
  /** The title of the window, and its name in the command palette. */
  readonly title: string;
  readonly view: ComponentType<{ parameters: Readonly<Record<string, string>> }>;
  /** The permission without which it is not offered. */
  readonly needs?: Permission;
  /** Its place in the menu, if it has one. */
  readonly menu?: {
    readonly group: 'Home' | 'Workspace' | 'Operations' | 'People';
    readonly icon: IconName;
    /** The second key of its shortcut: `g`, then this. */
    readonly key: string;
  };
}

/** Something that the command palette offers beside the pages. */
export interface Command {
  readonly title: string;
  /** A word that tells commands of one name apart, such as the kind of the thing. */
  readonly hint?: string;
  readonly run: () => void;
}
