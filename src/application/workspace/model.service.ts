import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { specBytes } from '../../domain/shared/storage-quota.js';
import { Prices } from '../../domain/spend/prices.js';
import { RequestIdConflict } from '../../domain/workspace/errors.js';
import { canonical, type JsonObject } from '../../domain/workspace/json.js';
import { canonicalUuid, Model, type ModelVersion } from '../../domain/workspace/model.js';
import { Audit } from '../audit/audit.service.js';
import { ChatRuntimes } from '../chat/ports.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, type VersionPage } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { type InProjectFilter, ModelRepository, type ModelVersionEntry } from './ports.js';
import { type Change, found, type InProject, type OfModel, TeamWorkspace } from './team-workspace.js';

interface NewModel extends InProject {
  readonly requestId: string;
  readonly spec: JsonObject;
}

export interface DraftedModel {
  readonly model: Model;
  /** False if an earlier call with the same request id created the model. */
  readonly created: boolean;
}

type Draft = Pick<Model, 'projectId' | 'spec' | 'requestedSpec' | 'createdBy'> & Partial<Pick<Model, 'forkedFrom'>>;

/** Limits the total length of the specs of a project's registered models. */
const REGISTERED_BYTES = 2 * 1024 * 1024;

/** Manages models. Repeats a write if the model changed meanwhile. */
@injectable()
export class ModelService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly models: ModelRepository,
    private readonly runtimes: ChatRuntimes,
    private readonly quotas: StorageQuotas,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest, RequestIdConflict, QuotaExceeded. */
  async create(by: Caller | null, { projectId, requestId, spec }: NewModel): Promise<DraftedModel> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const draft = { projectId: project.id, spec, requestedSpec: canonical(spec), createdBy: caller.accountId };
    return this.draft(caller, requestId, draft);
  }

  /** Drafts a model with the current spec of another model. Throws what `create` throws. */
  async fork(
    by: Caller | null,
    { projectId, modelId, requestId }: OfModel & { requestId?: string | undefined },
  ): Promise<DraftedModel> {
    const caller = authorize(by, permissions.editWorkspace);
    const { id, version, spec, ...original } = await this.workspace.model(caller, projectId, modelId);
    return this.draft(caller, requestId, {
      projectId: original.projectId,
      spec,
      requestedSpec: `fork of ${id}`, // without the version, so that the call can be repeated after an update
      forkedFrom: { modelId: id, version },
      createdBy: caller.accountId,
    });
  }

  /** Returns the models of a project, newest first. Throws NotFound. */
  async list(
    by: Caller | null,
    { projectId, q, page, memory }: InProjectFilter & WithMemory & { page: Page },
  ): Promise<Bounded<Model>> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const filter = { projectId: project.id, q };
    return boundedPage(page, {
      sizes: (part) => this.models.sizes(filter, part),
      fetch: (part) => this.models.all(filter, part),
      memory,
    });
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { projectId, modelId }: OfModel): Promise<Model> {
    return this.workspace.model(authorize(by, permissions.readWorkspace), projectId, modelId);
  }

  /** Throws NotFound, ModelRegistered, StaleVersion, QuotaExceeded. */
  async update(
    by: Caller | null,
    { projectId, modelId, expected, signal, spec }: OfModel & Change & { spec: JsonObject },
  ): Promise<Model> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const current = await this.workspace.model(caller, projectId, modelId);
      const next = Model.update(current, expected, { spec, by: caller.accountId, at: this.clock.now() });
      const added = { workspaceBytes: specBytes(next) };
      return this.quotas.add(caller, added, async () => (await this.models.replace(current, next)) && next);
    });
  }

  /** Makes the model immutable. Throws NotFound, ModelRegistered, StaleVersion, InvalidRequest. */
  async register(by: Caller | null, { projectId, modelId, expected, signal }: OfModel & Change): Promise<Model> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const current = await this.workspace.model(caller, projectId, modelId);
      const next = Model.register(current, expected, this.clock.now());
      this.runtimes.requireFields(next.spec);
      Prices.requireValid(next.spec);
      const [object, details] = [Model.named(next), { version: next.version, project_id: projectId }];
      return this.audit.perform({ by: caller, action: 'model.registered', object, details }, async () => {
        await this.requireRoom(next);
        return (await this.models.replace(current, next)) && next;
      });
    });
  }

  /** Deletes a draft with its versions. Throws NotFound, ModelRegistered, StaleVersion. */
  async delete(by: Caller | null, { projectId, modelId, expected, signal }: OfModel & Change): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    await retryWrite(signal, async () => {
      const current = await this.workspace.model(caller, projectId, modelId);
      Model.requireDraft(current, expected);
      const [object, details] = [Model.named(current), { project_id: projectId }];
      const act = { by: caller, action: 'model.deleted', object, details } as const;
      return this.audit.perform(act, () => this.models.remove(current));
    });
  }

  /** Returns the versions, newest first. Throws NotFound. */
  async versions(
    by: Caller | null,
    { page, ...wanted }: OfModel & { page: VersionPage },
  ): Promise<ModelVersionEntry[]> {
    const model = await this.read(by, wanted);
    return this.models.versions(model.id, page);
  }

  /** Throws NotFound. */
  async version(by: Caller | null, { version, ...wanted }: OfModel & { version: number }): Promise<ModelVersion> {
    const model = await this.read(by, wanted);
    return found('version', await this.models.version(model.id, version));
  }

  /** Throws InvalidRequest if the specs are too long together. Every answer about a project contains these specs. */
  private async requireRoom({ projectId, spec }: Model): Promise<void> {
    const taken = (await this.models.registeredBytes([projectId])).get(projectId) ?? 0;
    const added = new TextEncoder().encode(JSON.stringify(spec)).length;
    if (taken + added <= REGISTERED_BYTES) return;
    const message = `must have at most ${REGISTERED_BYTES} bytes together with those of the project's registered models`;
    throw new InvalidRequest([{ path: 'spec', message }]);
  }

  /** Adds the draft, or returns the model that an earlier call with the same request id added. */
  private async draft(by: Caller, requestId: string | undefined, content: Draft): Promise<DraftedModel> {
    const id = this.ids.next('mdl');
    const uuid = canonicalUuid(requestId ?? id.slice('mdl_'.length));
    if (!uuid) throw new InvalidRequest([{ path: 'request_id', message: 'must be a UUID' }]);
    const draft = Model.draft({ ...content, id, requestId: uuid, createdAt: this.clock.now() });
    const added = { workspaceBytes: specBytes(draft) };
    const model =
      (await this.models.findRequested(draft.projectId, uuid)) ??
      (await this.quotas.add(by, added, () => this.models.addOnce(draft)));
    if (model.requestedSpec !== draft.requestedSpec) throw new RequestIdConflict();
    return { model, created: model.id === draft.id };
  }
}
