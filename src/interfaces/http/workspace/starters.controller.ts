import { injectable } from 'inversify';
import { ListStarters } from '../../../application/workspace/list-starters.js';
import { Starter } from '../../../domain/workspace/starter.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import * as contracts from './starters.contract.js';

@injectable()
export class StartersController implements Controller {
  readonly routes = [
    route(contracts.listStarters, async ({ caller }) => {
      const starters = await this.listStarters.execute({ by: caller });
      return { starters: starters.map(starterAnswer), count: starters.length };
    }),
  ];

  constructor(private readonly listStarters: ListStarters) {}
}

type StarterAnswer = AnswerOf<typeof contracts.listStarters>['starters'][number];

const starterAnswer = (starter: Starter): StarterAnswer => ({
  id: starter.id,
  name: starter.name,
  description: starter.description,
  provenance: starter.provenance,
  spec: starter.spec,
  dataset: {
    name: starter.dataset.name,
    record_count: starter.dataset.records.length,
    groups: Starter.groups(starter),
    records: [...starter.dataset.records],
  },
});
