import { loadConfig } from '../../../src/bootstrap/config/config.js';

describe('the address of a process', () => {
  const read = (text: string) => loadConfig({ SERVICE_PROCESS_URL: text }).process.url;

  it.each(['http://10.0.0.1:8080', 'http://api-1', 'http://[fd00::1]:8080'])('is a host and a port: %s', (text) => {
    expect(read(text)).toBe(text);
    expect(read(`${text}/`)).toBe(text);
  });

  it.each([
    'http://10.0.0.1:8080/tenon',
    'http://ada:secret@10.0.0.1:8080',
    'http://10.0.0.1:8080?a=b',
    'http://10.0.0.1:8080#a',
    'https://10.0.0.1:8080',
    '10.0.0.1:8080',
  ])('has nothing else: %s', (text) => {
    expect(() => read(text)).toThrow(/^SERVICE_PROCESS_URL must be an http:\/\/ URL of a host and a port alone/);
  });
});
