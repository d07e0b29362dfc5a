import { injectable } from 'inversify';
import { ReadLog } from '../../../application/operations/read-log.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './logs.contract.js';

@injectable()
export class LogsController implements Controller {
  readonly routes = [
    route(contracts.readLog, async ({ caller, query: { tail, job_id: jobId = null } }) => {
      const { lines, file } = await this.readLog.execute({ by: caller, most: tail, jobId });
      return { lines, count: lines.length, file };
    }),
  ];

  constructor(private readonly readLog: ReadLog) {}
}
