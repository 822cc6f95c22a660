import type { Json } from '../../harness/api.ts';

/** The methods of workflow codes that do not end with the ordinary way of their operation, by their ends or, before that, the whole. */
const METHODS_BY_CODE: Readonly<Record<string, string>> = {
  'client.eu-vop.cop': 'createByIban',
  migration: 'migrate',
  invitation: 'invite',
  'sub-account': 'createSubAccount',
  correction: 'correct',
  synchronization: 'synchronize',
};

/** The last parts of codes for the ordinary way: the method is named by the operation only. */
const ORDINARY = ['direct', 'issuing', 'password', 'cop'];

const CRUD = ['create', 'delete', 'get', 'list', 'update'];

/** The method's name with its groups: `POST /accounts/{id}/balance-adjustments` is `accounts.balanceAdjustments.…`. */
export function methodPath(operation: { id: string; path: string }, code: string | null): string {
  const parts = operation.path.split('/').filter((part) => part !== '');
  const groups = parts.filter((part) => !part.startsWith('{')).map(camelCase);
  const verb = /^[a-z]+/.exec(operation.id)?.[0] ?? '';
  const isAction = !CRUD.includes(verb) && groups.length > 1 && parts.at(-1)?.startsWith('{') === false;
  const way = code === null ? null : wayOf(operation.id, code);
  if (isAction && !isCollection(operation.id, groups.at(-1) ?? '')) return groups.join('.');
  return [...groups, way ?? verb].join('.');
}

/** `requestConsent` on `/consents` acts on the collection; `recallOutgoingTransfer` on `/recall` is the action itself. */
function isCollection(operationId: string, group: string): boolean {
  return operationId.toLowerCase().includes(group.replace(/s$/, '').toLowerCase()) && group.endsWith('s');
}

function wayOf(operationId: string, code: string): string | null {
  const last = code.slice(code.lastIndexOf('.') + 1);
  const whole = METHODS_BY_CODE[code];
  if (whole !== undefined) return whole;
  if (ORDINARY.includes(last)) return null;
  const method = METHODS_BY_CODE[last];
  if (method === undefined) throw new Error(`${operationId}: name the method of the workflow code ${code}`);
  return method;
}

export function camelCase(text: string): string {
  return text.replaceAll(/[-.](\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

export function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

/** The type of a parameter or of a resource that a schema names. */
export function typeOf(schema: Json): string {
  const { $ref, enum: values, type, items } = schema;
  if ($ref !== undefined) return `Types.${nameOf($ref)}`;
  if ('const' in schema) return quoted(schema.const);
  if (values !== undefined) return values.map(quoted).join(' | ');
  if (type === 'array') return `readonly (${typeOf(items)})[]`;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean' || type === 'string') return type;
  throw new Error(`A parameter has a schema without a type: ${JSON.stringify(schema)}`);
}
