import type { Command, Effect, Given, Operand, Option } from '../program/command.ts';
import {
  entriesWithSecretAt,
  entryAt,
  OPERATION_ENTRIES,
  type OperationEntry,
  patternOf,
} from './operation-entries.ts';
import { barePath, isSecret, operandNames } from './paths.ts';

/** These move money, or give access or data, although they act on nothing that is there. */
const GRAVE: readonly string[] = [
  'createOutgoingTransfer',
  'createOutgoingTransferBatch',
  'createProvisionedAccountCredit',
  'createMachineUser',
  'createThirdPartyProvider',
  'createUser',
  'createWebhookSubscription',
];

/** A write to what is there wants its id confirmed where the world is live; a payment or a new caller, the world's name. */
function effectOf({ method, path, operationId }: OperationEntry): Effect {
  if (method === 'GET') return 'reads';
  return path.includes('{') || GRAVE.includes(operationId) ? 'dangerous' : 'writes';
}

const DATA: Option = {
  name: 'data',
  value: 'FILE',
  meaning: '@FILE, or - for standard input: the resource, or the whole body',
};
const QUERY: Option = { name: 'query', value: 'NAME=VALUE', isRepeated: true, meaning: 'A parameter' };
const KEY: Option = {
  name: 'idempotency-key',
  value: 'KEY',
  meaning: 'Repeats a request with one effect; drawn if it is absent',
};

function commandOf(entry: OperationEntry): Command {
  const { noun, name, summary, method, query = [], required = [] } = entry;
  const hasBody = entry.code !== undefined || entry.mediaType !== undefined;
  const data = required.length > 0 || entry.mediaType !== undefined ? { ...DATA, isRequired: true as const } : DATA;
  return {
    noun,
    name,
    summary,
    operands: operandsOf(entry),
    options: [
      ...(hasBody ? [data] : []),
      ...(query.length === 0 ? [] : [{ ...QUERY, meaning: `Of ${query.join(', ')}` }]),
      ...(method === 'POST' && !entry.isOpen ? [KEY] : []),
    ],
    reach: 'api',
    effect: effectOf(entry),
    confirmedBy: ({ operands }) => (operandNames(entry.path).some(isSecret) ? undefined : operands.at(-1)),
    load: async () => (await import('./run-call.ts')).callOperation(entry),
  };
}

/** `{clientRelationId}` is CLIENT_RELATION_ID. */
function operandsOf({ path }: OperationEntry): Operand[] {
  return operandNames(path).map((name) => {
    const capitals = name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
    if (!isSecret(name)) return { name: capitals, meaning: `${name} of ${path}` };
    return { name: `${capitals}_FILE`, meaning: `@FILE, or - for standard input: ${name} of ${path}` };
  });
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const api: Command = {
  noun: null,
  name: 'api',
  summary: 'Calls any path of the API: `fas api GET /clients --query metadata.page.size=5`.',
  operands: [
    { name: 'METHOD', values: METHODS, meaning: 'Of the request' },
    { name: 'PATH', meaning: 'From its first slash' },
  ],
  options: [{ ...DATA, meaning: '@FILE, or - for standard input: the body' }, QUERY, KEY],
  reach: 'api',
  effect: effectOfCall,
  confirmedBy: ({ operands }) => lastIdIn(operands),
  load: async () => (await import('./run-call.ts')).callPath,
};

/** A path that is not known here may do anything. */
function effectOfCall({ operands: [method = '', path = ''] }: Given): Effect {
  const entry = entryAt(method, path);
  // What has a secret is rejected before it is sent.
  if (method === 'GET' || entriesWithSecretAt(path).length > 0) return 'reads';
  return entry === undefined ? 'dangerous' : effectOf(entry);
}

/** What the call acts on, as the operation's own command has it; the end of a path that is not known here. */
function lastIdIn([method = '', given = '']: readonly string[]): string | undefined {
  const path = barePath(given);
  const entry = entryAt(method, path);
  return entry === undefined ? path.split('/').at(-1) : patternOf(entry.path).exec(path)?.slice(1).at(-1);
}

/** `fas api`, and a command for each operation. */
export const requestCommands: readonly Command[] = [api, ...OPERATION_ENTRIES.map(commandOf)];
