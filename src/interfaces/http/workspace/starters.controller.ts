import { injectable } from 'inversify';
import { StarterService } from '../../../application/workspace/starter.service.js';
import { type Starter, starterGroups } from '../../../domain/workspace/starter.js';
import { answerFrom } from '../answer-from.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './starters.contract.js';

@injectable()
export class StartersController implements Controller {
  readonly routes = [
    route(contracts.listStarters, async ({ caller }) => {
      const starters = await this.starters.list(caller);
      return { starters: starters.map(starterAnswer), count: starters.length };
    }),
  ];

  constructor(private readonly starters: StarterService) {}
}

const starterAnswer = (starter: Starter) =>
  answerFrom(contracts.listStarters.answer.shape.starters.element, starter, {
    dataset: {
      name: starter.dataset.name,
      record_count: starter.dataset.records.length,
      groups: starterGroups(starter),
      records: [...starter.dataset.records],
    },
  });
