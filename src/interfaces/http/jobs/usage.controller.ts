import { injectable } from 'inversify';
import { UsageService } from '../../../application/jobs/usage.service.js';
import { ServiceSettings } from '../../../application/shared/ports.js';
import type { UsageEntry } from '../../../domain/jobs/usage.js';
import { answerFrom, listed } from '../answers.js';
import { type Controller, route } from '../contract.js';
import { seconds } from '../schemas.js';
import * as contracts from './usage.contract.js';

@injectable()
export class UsageController implements Controller {
  readonly routes = [
    route(contracts.readUsage, async ({ caller, query, memory }) => {
      const { since = null, until = null, bucket, group_by: groupBy = null } = query;
      const found = await this.usage.read(caller, { since, until, bucket, groupBy, memory });
      const usage = listed('usage', found.entries.map(entryAnswer));
      const { currency } = this.settings;
      return { since: seconds(found.since), until: seconds(found.until), currency, ...usage };
    }),
  ];

  constructor(
    private readonly usage: UsageService,
    private readonly settings: ServiceSettings,
  ) {}
}

const entryAnswer = ({ firstToken, ...entry }: UsageEntry) =>
  answerFrom(contracts.readUsage.answer.shape.usage.element, entry, {
    time_to_first_token: firstToken,
  });
