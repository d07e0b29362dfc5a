import type { Container } from 'inversify';
import {
  AccountRepository,
  CredentialRepository,
  InviteRepository,
  MailedTokenRepository,
  SpentSiteTokenRepository,
  TeamRepository,
} from '../../src/application/accounts/ports.js';
import { AlertRepository, AlertRuleRepository, WebhookRepository } from '../../src/application/alerts/ports.js';
import { AuditRepository } from '../../src/application/audit/ports.js';
import {
  ConversationRepository,
  ResponseRepository,
  RuntimeConnectionRepository,
} from '../../src/application/chat/ports.js';
import { DeploymentRepository } from '../../src/application/deployments/ports.js';
import {
  EvaluationRepository,
  JobHistory,
  JobRepository,
  OwnCallRepository,
  UsageRepository,
} from '../../src/application/jobs/ports.js';
import { InstanceReports, StorageMeter } from '../../src/application/operations/ports.js';
import { StorageQuotas } from '../../src/application/operations/storage-quotas.js';
import { FeedbackRepository, KeptCallRepository } from '../../src/application/record/ports.js';
import { type Page, type ServiceSettings, type SizedItem, UnitOfWork } from '../../src/application/shared/ports.js';
import { BudgetRepository, HoldRepository, KeyLimitRepository } from '../../src/application/spend/ports.js';
import {
  DatasetRepository,
  ModelAliasRepository,
  ModelRepository,
  ProjectRepository,
  RecordRepository,
  WorkspaceSearch,
} from '../../src/application/workspace/ports.js';
import { storageQuotas } from '../../src/domain/shared/storage-quota.js';
import { anAccount, aProject, aTeam } from './records.js';

/** Lists the ports of the service's storage. */
export const storagePorts = {
  unitOfWork: UnitOfWork,
  teams: TeamRepository,
  accounts: AccountRepository,
  mailedTokens: MailedTokenRepository,
  invites: InviteRepository,
  spentSiteTokens: SpentSiteTokenRepository,
  credentials: CredentialRepository,
  projects: ProjectRepository,
  models: ModelRepository,
  datasets: DatasetRepository,
  records: RecordRepository,
  modelAliases: ModelAliasRepository,
  workspaceSearch: WorkspaceSearch,
  connections: RuntimeConnectionRepository,
  conversations: ConversationRepository,
  responses: ResponseRepository,
  deployments: DeploymentRepository,
  jobs: JobRepository,
  jobHistory: JobHistory,
  ownCalls: OwnCallRepository,
  keptCalls: KeptCallRepository,
  feedback: FeedbackRepository,
  evaluations: EvaluationRepository,
  usage: UsageRepository,
  alertRules: AlertRuleRepository,
  alerts: AlertRepository,
  auditTrail: AuditRepository,
  webhooks: WebhookRepository,
  storageMeter: StorageMeter,
  instanceReports: InstanceReports,
  budgets: BudgetRepository,
  holds: HoldRepository,
  keyLimits: KeyLimitRepository,
};

/** Contains an adapter of each storage port, all on one store. */
export type Repositories = {
  readonly [Name in keyof typeof storagePorts]: (typeof storagePorts)[Name]['prototype'];
};

/** Returns the adapters that the service's container has bound. */
export const repositoriesOf = (container: Container): Repositories => {
  const bound = Object.entries(storagePorts).map(([name, port]) => [name, container.get<unknown>(port)]);
  return Object.fromEntries(bound) as Repositories;
};

/** A store on which a contract suite tests an adapter. */
export interface StoreUnderTest {
  /** Empties the store and returns its repositories. */
  open(): Promise<Repositories>;
  /** Returns the repositories of another process on the same store. */
  elsewhere(): Promise<Repositories>;
}

/** Returns a service that measures what is stored, and allows any amount. */
export const unlimitedStorage = ({ unitOfWork, storageMeter }: Pick<Repositories, 'unitOfWork' | 'storageMeter'>) => {
  const quotas = Object.fromEntries(Object.keys(storageQuotas).map((name) => [name, Number.POSITIVE_INFINITY]));
  return new StorageQuotas(unitOfWork, storageMeter, { quotas } as unknown as ServiceSettings);
};

export type StockedStore = Awaited<ReturnType<typeof stocked>>;

/** Empties the store and adds two teams. The first one has two accounts and two projects. */
export async function stocked(store: StoreUnderTest) {
  const repositories = await store.open();
  const [team, otherTeam] = [aTeam(), aTeam()];
  const [account, colleague] = [anAccount(team), anAccount(team)];
  const [project, otherProject] = [aProject(team), aProject(team)];
  await repositories.unitOfWork.run(async () => {
    for (const one of [team, otherTeam]) await repositories.teams.add(one);
    for (const one of [account, colleague]) await repositories.accounts.add(one);
    for (const one of [project, otherProject]) await repositories.projects.add(one);
  });
  return { ...repositories, team, otherTeam, account, colleague, project, otherProject };
}

/** Checks that a list has `all`, as a whole and page by page. */
export async function expectPages<Row extends { readonly id: string }>(
  list: (page: Page) => Promise<readonly Row[]>,
  all: readonly Row[],
  sizes?: (page: Page) => Promise<readonly SizedItem[]>,
): Promise<void> {
  expect(await list({ limit: 1_000, after: null })).toEqual(all);
  if (sizes) {
    const sized = async (page: Page) => (await sizes(page)).map(({ id }) => id);
    expect(await sized({ limit: 1_000, after: null })).toEqual(all.map(({ id }) => id));
    expect(await sized({ limit: 1, after: all[0]?.id ?? null })).toEqual(all.slice(1, 2).map(({ id }) => id));
  }
  for (let at = 0; at <= all.length; at += 2) {
    const after = at === 0 ? null : (all[at - 1] as Row).id;
    expect(await list({ limit: 2, after })).toEqual(all.slice(at, at + 2));
  }
  expect(await list({ limit: 2, after: all.at(-1)?.id ?? null })).toEqual([]);
}
