/** A path as the OpenAPI document has it: without the version, and without a query. */
export function barePath(path: string): string {
  return path.replace(/[?#].*$/, '').replace(/^\/v1(?=\/)/, '');
}

/** An empty part, or one of dots, would name another route. */
export function namesAnotherRoute(part: string): boolean {
  return /^(\.|%2e){0,2}$/i.test(part);
}

/** What a path takes: `clientId` of `/clients/{clientId}`. */
export function operandNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** It gives access to its bearer: it comes from a file, as what is typed is seen in the list of processes. */
export function isSecret(name: string): boolean {
  return name === 'token';
}
