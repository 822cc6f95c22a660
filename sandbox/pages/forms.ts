import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';

export function limitForms(bytesMax: number) {
  return bodyLimit({ maxSize: bytesMax, onError: (c) => c.text('This form is too large.', 413) });
}

export async function readForm(c: Context): Promise<URLSearchParams> {
  return new URLSearchParams(await c.req.text());
}
