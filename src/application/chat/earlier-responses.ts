import { injectable } from 'inversify';
import type { RequestMessage } from '../../domain/chat/chat.js';
import { PreviousResponseNotFound, Response, responseLimits } from '../../domain/chat/response.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { type ResponseKey, ResponseRepository } from './ports.js';

/** Reads the stored responses that a request continues or refers to. */
@injectable()
export class EarlierResponses {
  constructor(private readonly responses: ResponseRepository) {}

  /**
   * Returns the messages of a response, and of those that it continues, oldest first. Reserves memory for them. Throws
   * PreviousResponseNotFound, InvalidRequest.
   */
  async before(key: ResponseKey, { memory }: WithMemory): Promise<RequestMessage[]> {
    const { earlier, earlierBytes } = responseLimits;
    const { id, accountId } = key;
    const line = await this.responses.lineage(key, earlier + 1);
    const refuse = (message: string) => new InvalidRequest([{ path: 'previous_response_id', message }]);
    const [oldest] = line;
    if (line.length <= earlier && (!oldest || oldest.previousId !== null)) throw new PreviousResponseNotFound(id);
    const bytes = line.reduce((sum, one) => sum + one.bytes, 0);
    if (line.length > earlier || bytes > earlierBytes)
      throw refuse(`continues more than ${earlier} responses or ${earlierBytes} bytes: begin anew with a summary`);
    if (line.some(Response.isOpen)) throw refuse('names a response that has not ended: wait for its end');
    await memory.reserve(bytes);
    const stored = await this.responses.ofIds(
      accountId,
      line.map((one) => one.id),
    );
    const byId = new Map(stored.map((one) => [one.id, one]));
    return line.flatMap((one) => {
      const response = byId.get(one.id);
      if (!response) throw new PreviousResponseNotFound(id);
      return [...response.messages, ...Response.messageOf(response.output)];
    });
  }

  /** Returns those of the account's responses with these ids that exist, and keeps memory for them. Throws InvalidRequest. */
  async named(
    accountId: string,
    { ids, projects, memory }: { readonly ids: readonly string[] } & Pick<ResponseKey, 'projects'> & WithMemory,
  ): Promise<Response[]> {
    const { earlier, earlierBytes } = responseLimits;
    const refuse = (what: string) => new InvalidRequest([{ path: 'input', message: `refers to more than ${what}` }]);
    if (ids.length > earlier) throw refuse(`${earlier} responses`);
    const sizes = await this.responses.sizes(accountId, ids, projects);
    if (sizes.reduce((sum, bytes) => sum + bytes, 0) > earlierBytes) throw refuse(`${earlierBytes} bytes of responses`);
    await memory.reserve(...sizes);
    memory.keep(null);
    return this.responses.ofIds(accountId, ids, projects);
  }
}
