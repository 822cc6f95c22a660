import type { OperationRequest, SendOptions } from '../call.ts';
import { dateTimeText, encode } from './json.ts';

export function bodyTextOf(request: OperationRequest, options: SendOptions): string | undefined {
  const body = request.code === undefined ? request.body : bodyOf(request, options);
  return body === undefined ? undefined : encode(body);
}

function bodyOf(request: OperationRequest, { workflow, data, connect, metadata }: SendOptions): object {
  return {
    workflow: { ...workflow, ...request.workflow, code: request.code },
    data: { ...data, ...request.data },
    ...(connect == null ? {} : { connect }),
    ...(metadata == null ? {} : { metadata }),
  };
}

export function pathOf({ path, parameters = {}, operation }: OperationRequest): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    // An empty part, or one of dots, would name another route.
    if (value === undefined || /^\.{0,2}$/.test(value)) throw new TypeError(`${operation} needs ${name}`);
    return encodeURIComponent(value);
  });
}

export function queryOf({ query = {}, names = {} }: OperationRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    const text = value instanceof Date ? dateTimeText(value) : Array.isArray(value) ? value.join(',') : `${value}`;
    parameters.set(names[name] ?? name, text);
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
