import { setTimeout as pause } from 'node:timers/promises';
import type { DesiredStateChanges } from '../../../src/application/shared/ports.js';
import { eventually } from '../../support/eventually.js';
import { aConnection, aDeployment, aModel, aProject, aTeam } from '../../support/records.js';
import type { Repositories } from '../../support/repositories.js';

export interface DesiredStateUnderTest {
  readonly repositories: Repositories;
  /** Returns the port of one more instance. */
  instance(): DesiredStateChanges;
}

export function desiredStateChangesContract(adapter: string, open: () => Promise<DesiredStateUnderTest>) {
  describe(`DesiredStateChanges of ${adapter}`, () => {
    let repositories: Repositories;
    let listening: DesiredStateChanges[];
    let listen: (changed: () => void) => DesiredStateChanges;
    let heard: number;
    beforeEach(async () => {
      const rig = await open();
      repositories = rig.repositories;
      listening = [];
      listen = (changed) => {
        const changes = rig.instance();
        changes.listen(changed);
        listening.push(changes);
        return changes;
      };
      heard = 0;
      listen(() => heard++);
      await eventually(() => heard === 1);
    });
    afterEach(() => Promise.all(listening.map((changes) => changes.stop())));

    const isHeard = async (change: () => Promise<unknown>) => {
      heard = 0;
      await change();
      await eventually(() => heard > 0);
    };

    it('calls its listener after every change of a runtime or a deployment', async () => {
      const { teams, projects, models, connections, deployments } = repositories;
      const team = aTeam();
      const project = aProject(team);
      await teams.add(team);
      await projects.add(project);
      const { id: modelId } = await models.addOnce(aModel(project));
      const connection = aConnection({ projectId: project.id, modelId });
      await isHeard(() => connections.save(connection));
      await isHeard(() => connections.setDesired(project.id, 'started'));
      await isHeard(() => connections.remove(project.id));
      await isHeard(() => connections.save(connection));
      await isHeard(() => projects.remove(project));
      const deployment = aDeployment();
      await isHeard(() => deployments.add(deployment));
      await isHeard(() => deployments.remove(deployment.id));
    });

    it('calls its listener after a commit, and not before', async () => {
      const { unitOfWork, deployments } = repositories;
      heard = 0;
      const undone = unitOfWork.run(async () => {
        await deployments.add(aDeployment());
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await unitOfWork.run(async () => {
        await deployments.add(aDeployment());
        await pause(50);
        expect(heard).toBe(0);
      });
      await eventually(() => heard === 1);
    });

    it('does not call its listener after its stop', async () => {
      let late = 0;
      const stopped = listen(() => late++);
      await eventually(() => late === 1);
      await stopped.stop();
      await isHeard(() => repositories.deployments.add(aDeployment()));
      expect(late).toBe(1);
    });
  });
}
