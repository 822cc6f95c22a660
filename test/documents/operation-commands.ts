import { VERSION } from '../../api/app.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import type { OperationEntry } from '../../cli/requests/operation-entries.ts';

/** A value of the OpenAPI document, which is JSON. */
type Json = ReturnType<typeof JSON.parse>;

/** The commands of operations with several workflow codes; a code without a name here fails the test. */
const NAMES_OF_CODES: Readonly<Record<string, string>> = {
  'createClient direct': 'create',
  'createClient migration': 'migrate',
  'createUser human.external.direct': 'create',
  'createUser human.external.invitation': 'invite',
  'createBeneficiary direct': 'create',
  'createBeneficiary migration': 'migrate',
  'createBeneficiaryVerification client.pay-uk.cop': 'create',
  'createBeneficiaryVerification client.eu-vop.cop': 'create-by-iban',
  'createAccount client.issuing': 'create',
  'createAccount client.migration': 'migrate',
  'createAccount client.sub-account': 'create-sub-account',
  'createBalanceAdjustment correction': 'correct-balance',
  'createBalanceAdjustment synchronization': 'synchronize-balance',
};

/** Nouns of paths that begin with none. */
const NOUNS: Readonly<Record<string, string>> = {
  '': 'system',
  '.well-known': 'open-banking',
  health: 'system',
  'openapi.json': 'system',
  docs: 'system',
};

/** A container that may be omitted is also null. */
function withoutNull(schema: Json): Json {
  return schema?.anyOf?.find((one: Json) => one.type !== 'null') ?? schema;
}

/** A command for each operation of the document, and for each of its workflow codes. */
export function operationEntries(): OperationEntry[] {
  const document: Json = documentOf(ROUTES, VERSION);
  const resolved = (value: Json): Json =>
    value?.$ref === undefined
      ? value
      : value.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, key: string) => at[key], document);
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, operation]) => {
      const shared = {
        operationId: operation.operationId,
        method: method.toUpperCase(),
        path,
        noun: nounOf(path),
        summary: `${operation.summary}.`,
        ...queryOf(operation.parameters ?? [], resolved),
        ...(operation.security?.length === 0 ? { isOpen: true as const } : {}),
      };
      const name = nameOf(operation.operationId, shared.noun);
      const content = operation.requestBody?.content ?? {};
      const [mediaType] = Object.keys(content);
      if (mediaType === undefined) return [{ ...shared, name }];
      const schema = resolved(content[mediaType].schema);
      const alternatives: Json[] = (schema.oneOf ?? schema.anyOf ?? [schema]).map(resolved);
      const hasWorkflow = alternatives.every((body) => body.properties?.workflow !== undefined);
      if (!hasWorkflow) return [{ ...shared, name, mediaType }];
      return alternatives.map((body) => {
        const code: string = resolved(resolved(body.properties.workflow).properties.code).const;
        const data = resolved(withoutNull(body.properties.data)) ?? {};
        const known = NAMES_OF_CODES[`${operation.operationId} ${code}`];
        if (alternatives.length > 1 && known === undefined)
          throw new Error(`${operation.operationId} has the code ${code}, whose command has no name`);
        const keys = Object.keys(data.properties ?? {});
        return { ...shared, name: known ?? name, code, keys, required: data.required ?? [] };
      });
    }),
  );
}

function queryOf(parameters: Json[], resolved: (value: Json) => Json): { readonly query?: readonly string[] } {
  const names = parameters
    .map(resolved)
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);
  return names.length === 0 ? {} : { query: names };
}

function nounOf(path: string): string {
  const [, first = ''] = path.split('/');
  return NOUNS[first] ?? first;
}

/** `createOutgoingTransferBatch` of `outgoing-transfers` is `create-batch`. */
function nameOf(operationId: string, noun: string): string {
  const [verb = '', ...rest] = operationId
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split('-');
  const singular = noun.replace(/ies$/, 'y').replace(/s$/, '');
  const what = rest.join('-').replace(new RegExp(`^(${noun}|${singular})(-|$)`), '');
  return what === '' ? verb : `${verb}-${what}`;
}

/** A line for each, so that a change of one is a line of the difference. */
export function printedEntries(entries: readonly OperationEntry[]): string {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}
