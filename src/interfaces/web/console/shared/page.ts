import type { ComponentType } from 'preact';
import type { Permission } from './account.js';
import type { IconName } from './icon.js';

/** The component that draws a page. `parameters` are the values of the parts of its path with a colon. */
export type View = ComponentType<{ parameters: Readonly<Record<string, string>> }>;

/** A page of the console. `pages.ts` lists all pages. The first page with a path that fits the address is shown. */
export interface Page {
  /** A path such as `/projects/:project_id`. */
  readonly path: string;
  /** The title of the window, and the name of the page in the command palette. */
  readonly title: string;
  /** Loads the code of the page. */
  readonly load: () => Promise<View>;
  /** The first list of the page, such as `v1/jobs?limit=50`. It is asked for while the code is loaded. */
  readonly early?: string;
  /** The permission that the page needs. */
  readonly needs?: Permission;
  /** The place of the page in the menu, if it has one. */
  readonly menu?: {
    readonly group: 'Home' | 'Workspace' | 'Operations' | 'People';
    readonly icon: IconName;
    /** The second key of its shortcut. The first key is `g`. */
    readonly key: string;
  };
}

/** An entry of the command palette. */
export interface Command {
  readonly title: string;
  /** A word that distinguishes commands with the same title, such as the kind of the object. */
  readonly hint?: string;
  readonly run: () => void;
}
