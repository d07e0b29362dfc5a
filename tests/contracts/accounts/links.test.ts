import { PageLinks } from '../../../src/interfaces/web/page-links.js';
import { linksContract } from './links.contract.js';

linksContract('the service’s own pages', (baseUrl) => new PageLinks({ baseUrl }));

describe('Links of the service’s own pages', () => {
  it('are below the address that the service turns out to have', () => {
    const address = { baseUrl: '' };
    const links = new PageLinks(address);
    address.baseUrl = 'http://127.0.0.1:49152';
    expect(links.verifyEmail('tnv_abc')).toBe('http://127.0.0.1:49152/verify-email?token=tnv_abc');
  });
});
