import type { ComponentChildren } from 'preact';
import { can } from '../../shared/account.js';
import { Frame, Tabs } from '../../shared/frame.js';

/** Draws the frame of the pages about the team. Pages that the role does not allow have no tab. */
export function TeamFrame({ actions, children }: { actions?: ComponentChildren; children: ComponentChildren }) {
  const tabs: [string, string][] = [['Members', '/team']];
  if (can('read_monitoring')) tabs.push(['Webhooks', '/team/webhooks']);
  if (can('read_audit')) tabs.push(['Audit trail', '/team/audit']);
  return (
    <Frame title="Team" actions={actions} tabs={<Tabs label="Team" tabs={tabs} />}>
      {children}
    </Frame>
  );
}
