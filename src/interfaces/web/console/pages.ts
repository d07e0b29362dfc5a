import { overview } from './pages/overview/overview.js';
import { playground } from './pages/playground/playground.js';
import { project } from './pages/project/project.js';
import { projects } from './pages/projects/projects.js';
import type { Page } from './shared/page.js';

/** All pages of the console, in the order of the menu. A literal path stands before one with parameters. */
export const pages: readonly Page[] = [overview, playground, projects, project];
