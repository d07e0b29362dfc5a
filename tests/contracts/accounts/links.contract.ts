import type { PageLinks } from '../../../src/application/accounts/ports.js';

/** `open` makes the links of a service with that base URL. */
export function linksContract(adapter: string, open: (baseUrl: string) => PageLinks) {
  describe(`PageLinks of ${adapter}`, () => {
    it.each(['http://127.0.0.1:8080', 'https://tenon.example', 'https://example.com/models/tenon', 'http://[::1]:80'])(
      'are below the service’s base URL: %s',
      (baseUrl) => {
        const links = open(baseUrl);
        expect(links.verifyEmail('tnv_abc')).toBe(`${baseUrl}/verify-email?token=tnv_abc`);
        expect(links.resetPassword('tnr_abc')).toBe(`${baseUrl}/reset-password?token=tnr_abc`);
        expect(links.alerts()).toBe(`${baseUrl}/v1/alerts`);
        expect(links.alert('alr_abc')).toBe(`${baseUrl}/v1/alerts/alr_abc`);
        expect(links.ownAccount()).toBe(`${baseUrl}/v1/auth/me`);
      },
    );

    it.each(['@evil.example/', '../..//evil.example', '&a=b#c', 'tnv_ä ö%20+', '//evil.example', '"><script>'])(
      'carry the token as it is and lead nowhere else, whatever it is: %s',
      (token) => {
        const links = open('https://tenon.example/below');
        for (const [link, page] of [
          [new URL(links.verifyEmail(token)), 'verify-email'],
          [new URL(links.resetPassword(token)), 'reset-password'],
        ] as const) {
          expect(link.origin + link.pathname + link.hash).toBe(`https://tenon.example/below/${page}`);
          expect([...link.searchParams]).toEqual([['token', token]]);
        }
      },
    );
  });
}
