import { Tabs } from '../../shared/frame.js';

/** Shows links between the list of the alerts and the list of their rules. */
export const AlertTabs = () => (
  <Tabs
    label="Alerts"
    tabs={[
      ['Alerts', '/alerts'],
      ['Rules', '/alerts/rules'],
    ]}
  />
);
