import { can, status } from '../shared/account.js';
import type { Command, Page } from '../shared/page.js';
import { match } from '../shared/place.js';
import { link, navigate, path } from '../shared/router.js';
import { signOut } from './sign-out.js';

export const goTo = (title: string, hint: string, href: string): Command => ({
  title,
  hint,
  run: () => navigate(href),
});

/** Returns what the role may do from any page. Datasets and models are made in the open project, or in the newest one. */
export function actions(openHelp: () => void): readonly Command[] {
  const listed: readonly (readonly [needs: Page['needs'] | null, Command])[] = [
    ['edit_workspace', goTo('New project', 'action', link('/projects', { new: '1' }))],
    ...inProject(),
    ['run_evaluations', goTo('Start an evaluation', 'action', link('/evaluations', { start: 'yes' }))],
    ['manage_monitoring', goTo('Deploy a model', 'action', link('/deployments', { dialog: 'deploy' }))],
    ['manage_monitoring', goTo('New alert rule', 'action', link('/alerts/rules', { rule: 'new' }))],
    ['manage_team', goTo('Invite someone', 'action', link('/team'))],
    ['own_account', goTo('Make an API key', 'action', link('/account'))],
    [null, { title: 'Show the shortcuts', hint: 'action', run: openHelp }],
    [null, { title: 'Sign out', hint: 'action', run: () => void signOut() }],
  ];
  return listed.filter(([needs]) => !needs || can(needs)).map(([, command]) => command);
}

function inProject(): readonly (readonly ['edit_workspace' | 'read_workspace', Command])[] {
  const parts = path.value.split('/');
  const open = match('/projects/:id', parts.slice(0, 3).join('/'))?.id;
  const newest = status.value?.runtimes[0];
  const id = open ?? newest?.project_id;
  if (!id) return [];
  const into = open ? 'into this project' : `into ${newest?.project_name}`;
  const read = (title: string, to: string) => ['read_workspace', goTo(title, 'of this project', link(to))] as const;
  return [
    ...(open ? [read('Calls', `/projects/${id}/calls`), read('Recording of calls', `/projects/${id}/recording`)] : []),
    ['edit_workspace', goTo('Import a dataset', into, link(`/projects/${id}/datasets`, { import: 'file' }))],
    ['edit_workspace', goTo('Draft a model', into, link(`/projects/${id}/models`, { new: '1' }))],
  ];
}
