import { describe, expect, test } from 'vitest';
import { CqbatchError } from '../../../src/base/errors/errors.ts';
import { parseBaseUrl } from '../../../src/engine/api/base-url.ts';

describe('parseBaseUrl', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['  HTTPS://API.Example.com:443/  ', 'https://api.example.com'],
    ['https://api.example.com:8443/gateway/v2/', 'https://api.example.com:8443/gateway/v2'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://127.1', 'http://127.0.0.1'],
  ])('takes %s as %s', (text, expected) => {
    expect(parseBaseUrl(text)).toBe(expected);
    expect(parseBaseUrl(expected)).toBe(expected);
  });

  test.each([
    ['', 'BASE_URL_INVALID', 'must begin with https://'],
    ['api.example.com', 'BASE_URL_INVALID', 'must begin with https://'],
    ['ftp://example.com', 'BASE_URL_INVALID', 'must begin with https://'],
    ['https://', 'BASE_URL_INVALID', 'is not a valid URL'],
    ['https://a b', 'BASE_URL_INVALID', 'is not a valid URL'],
    ['https://user:pa55@example.com', 'BASE_URL_INVALID', 'user name or password'],
    ['https://user:12/pa55@example.com', 'BASE_URL_INVALID', 'contains an @ behind its host'],
    ['https://user:12?pa55@example.com', 'BASE_URL_INVALID', 'contains an @ behind its host'],
    ['https://example.com?x=1', 'BASE_URL_INVALID', 'query'],
    ['https://example.com#x', 'BASE_URL_INVALID', 'fragment'],
    ['https://example.com/api/v1alpha1/', 'BASE_URL_INVALID', 'remove that'],
    ['http://example.com', 'BASE_URL_INSECURE', '--allow-insecure-http'],
    ['http://127.0.0.1.example.com', 'BASE_URL_INSECURE', '--allow-insecure-http'],
  ])('refuses %j with a remedy and without quoting credentials', (text, code, remedy) => {
    expect(() => parseBaseUrl(text)).toThrow(CqbatchError);
    expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ code, kind: 'usage' }));
    expect(() => parseBaseUrl(text)).toThrow(remedy);
    expect(() => parseBaseUrl(text)).not.toThrow('pa55');
  });

  test('accepts plain HTTP when it is allowed', () => {
    expect(parseBaseUrl('http://10.0.0.1/x', { allowInsecureHttp: true })).toBe('http://10.0.0.1/x');
  });
});
