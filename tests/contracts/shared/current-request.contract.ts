import type { RequestContext } from '../../../src/application/shared/ports.js';
import { atOnce, barrier } from '../../support/barrier.js';

export function currentRequestContract(adapter: string, open: () => RequestContext) {
  describe(`RequestContext of ${adapter}`, () => {
    it('is that on whose behalf code runs, also after an await, and none outside', async () => {
      const request = open();
      expect(request.id).toBeNull();
      const seen = await request.within('r1', async () => {
        const before = request.id;
        await new Promise((resolve) => setImmediate(resolve));
        return [before, request.id];
      });
      expect(seen).toEqual(['r1', 'r1']);
      expect(request.id).toBeNull();
    });

    it('keeps requests apart that run at once', async () => {
      const request = open();
      const allHaveBegun = barrier(3);
      const seen = await atOnce(3, (party) =>
        request.within(`r${party}`, async () => {
          await allHaveBegun();
          return request.id;
        }),
      );
      expect(seen).toEqual(['r0', 'r1', 'r2']);
    });
  });
}
