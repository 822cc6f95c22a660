import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { securityHeaders } from './headers.ts';

async function headersOf(url: string): Promise<Headers> {
  const app = new Hono();
  app.use(securityHeaders({ url }));
  app.get('/page', (c) => c.text('page'));
  app.get('/asset', (c) => c.text('asset', 200, { 'cache-control': 'public, immutable' }));
  expect((await app.request('/asset')).headers.get('cache-control'), 'a file that says so is kept').toBe(
    'public, immutable',
  );
  return (await app.request('/page')).headers;
}

test('over https browsers come back by https only; on this machine, by plain http, they are not told so', async () => {
  expect((await headersOf('https://console.example.com')).get('strict-transport-security')).toBe('max-age=31536000');
  expect((await headersOf('http://127.0.0.1:3200')).get('strict-transport-security')).toBeNull();
});
