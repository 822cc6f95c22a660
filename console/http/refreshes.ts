import type { Context } from 'hono';

/** Whether live rows asked by themselves, and not the person: it is no use of the session, and shows no notice. */
export function isRefresh(c: Pick<Context, 'req'>): boolean {
  return c.req.header('hx-request') !== undefined;
}
