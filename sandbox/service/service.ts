import { LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';

/** The address of the service, for callers outside. */
export interface ServiceAddress {
  readonly apiUrl: string;
  /** The issuer of ID tokens. */
  readonly publicUrl: string;
  readonly audience: string;
}

export interface Answer {
  readonly status: number;
  /** Amounts as their digits; null if the body is not JSON. */
  readonly body: unknown;
}

/** The service gave no meaningful answer: it is unavailable, or has failed. Whether the request had an effect is unknown. */
export class ServiceUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the service gives no answer', options);
    this.name = 'ServiceUnavailable';
  }
}

const ANSWER_MS_MAX = 20_000;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly bearer?: string;
  /** The proof of a bound access token, which is then sent with the scheme DPoP. */
  readonly proof?: { readonly jwt: string; readonly accessToken?: string };
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
}

/** Throws ServiceUnavailable for no answer, and for 5xx. */
export async function callService({ apiUrl }: ServiceAddress, call: Call): Promise<Answer> {
  const { method, path, bearer, proof, json, form, idempotencyKey } = call;
  const headers: Record<string, string> = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(proof === undefined ? {} : { dpop: proof.jwt }),
    ...(proof?.accessToken === undefined ? {} : { authorization: `DPoP ${proof.accessToken}` }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const body =
    form === undefined ? (json === undefined ? null : stringify(json)) : new URLSearchParams(form).toString();
  const { status, text } = await sent(`${apiUrl}${path}`, { method, headers, body: body ?? null });
  if (status >= 500) throw new ServiceUnavailable();
  return { status, body: parsed(text) };
}

async function sent(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new ServiceUnavailable({ cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** The content of a successful answer. An answer that does not match the contract counts as none. */
export function read<Schema extends v.GenericSchema>(schema: Schema, { body }: Answer): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw new ServiceUnavailable();
}

const Rejection = v.object({ code: v.string() });

/** The code of a rejected request. */
export function codeOf({ body }: Answer): string {
  const result = v.safeParse(Rejection, body);
  return result.success ? result.output.code : '';
}

/** An amount's digits. */
export function amount() {
  return v.pipe(
    v.instance(LosslessNumber),
    v.transform((number) => number.toString()),
  );
}
