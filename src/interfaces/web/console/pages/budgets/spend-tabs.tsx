import { can } from '../../shared/account.js';
import { Tabs } from '../../shared/frame.js';

/** Shows links between the pages about money. */
export function SpendTabs() {
  const tabs: [string, string][] = [['Budgets', '/budgets']];
  if (can('read_jobs')) tabs.push(['Costs', '/budgets/costs'], ['Trial prices', '/budgets/trial']);
  return <Tabs label="Budgets and costs" tabs={tabs} />;
}
