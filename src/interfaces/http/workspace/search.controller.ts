import { injectable } from 'inversify';
import { SearchService } from '../../../application/workspace/search.service.js';
import { answerFrom, listed } from '../answers.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './search.contract.js';

@injectable()
export class SearchController implements Controller {
  readonly routes = [
    route(contracts.search, async ({ caller, query }) => {
      const found = await this.objects.find(caller, query);
      const schema = contracts.search.answer.shape.found.element;
      return listed(
        'found',
        found.map((object) => answerFrom(schema, object, {})),
      );
    }),
  ];

  constructor(private readonly objects: SearchService) {}
}
