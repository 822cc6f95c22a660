import { type CommandContext, operand, optionText, optionTexts, type Run } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import { withoutSecrets } from '../program/failures.ts';
import { reachedApi } from '../program/reached-world.ts';
import { showAnswer } from './answers.ts';
import { bodyOf, readData } from './bodies.ts';
import { type Call, openApi, requestOf } from './calls.ts';
import { entriesWithSecretAt, entryAt, type OperationEntry } from './operation-entries.ts';
import { barePath, isSecret, namesAnotherRoute, operandNames } from './paths.ts';

/** Calls an operation by its name. */
export function callOperation(entry: OperationEntry): Run {
  return async (context) => {
    const { method, mediaType, query: known = [] } = entry;
    const query = queryOf(context);
    const unknown = query.find(([name]) => !known.includes(name));
    if (unknown !== undefined)
      throw new CommandFailure('usage', `It has no parameter "${unknown[0]}": ${known.join(', ')}.`);
    const file = optionText(context, 'data');
    const data = file === undefined ? undefined : await readData(file);
    const body = mediaType === undefined ? bodyOf(entry, data) : data;
    const path = await pathOf(entry, context);
    return send(
      context,
      { method, path, shownPath: shownPathOf(entry, path), query, body, mediaType },
      entry.isOpen === true,
    );
  };
}

/** `fas api METHOD PATH`. */
export const callPath: Run = async (context) => {
  const path = operand(context, 1);
  const withSecret = entriesWithSecretAt(path).map(({ noun, name }) => `fas ${noun} ${name}`);
  if (withSecret.length > 0)
    throw new CommandFailure(
      'usage',
      `PATH has a secret, which others could read: ${withSecret.join(' and ')} take it from a file.`,
    );
  if (!/^\/[^\s/{}][^\s{}]*$/.test(path))
    throw new CommandFailure('usage', 'PATH begins with one slash and has its ids, such as /clients.');
  if (barePath(path).split('/').slice(1).some(namesAnotherRoute))
    throw new CommandFailure('usage', 'PATH has no empty part and none of dots, which would name another route.');
  const method = operand(context, 0);
  const entry = entryAt(method, path);
  const isOpen = entry?.isOpen === true;
  if (optionText(context, 'idempotency-key') !== undefined && (method !== 'POST' || isOpen))
    throw new CommandFailure(
      'usage',
      `The service keeps nothing under an Idempotency-Key of ${method} ${barePath(path)}.`,
    );
  const file = optionText(context, 'data');
  if (file !== undefined && method === 'GET') throw new CommandFailure('usage', 'A GET has no body: give --query.');
  const body = file === undefined ? undefined : await readData(file);
  return send(context, { method, path, query: queryOf(context), body, mediaType: entry?.mediaType }, isOpen);
};

interface Sent {
  readonly method: string;
  readonly path: string;
  /** If the path has a secret. */
  readonly shownPath?: string | undefined;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  readonly mediaType?: string | undefined;
}

async function send(context: CommandContext, sent: Sent, isOpen: boolean): Promise<0> {
  const { output, globals } = context;
  const { body, mediaType, shownPath, ...rest } = sent;
  const key = optionText(context, 'idempotency-key');
  const call: Call = {
    ...rest,
    ...(body === undefined ? {} : { body }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(shownPath === undefined ? {} : { shownPath }),
    ...(isOpen ? { idempotencyKey: null } : key === undefined ? {} : { idempotencyKey: key }),
  };
  if (globals.isDryRun) {
    const { method, url, headers } = requestOf(
      { ...call, path: shownPath ?? call.path },
      reachedApi(context).world.target,
    );
    const shownBody = body === undefined ? null : withoutSecrets(body);
    const shownUrl = shownPath === undefined ? url : url.replace(/%7B(\w+)%7D/g, '{$1}');
    const shown = { method, url: shownUrl, headers: { ...headers, ...(isOpen ? {} : { authorization: 'Bearer …' }) } };
    const lines = Object.entries(shown.headers).map(([name, value]) => `${name}: ${value}`);
    output.show({ ...shown, body: shownBody }, [
      `${method} ${shownUrl}`,
      ...lines,
      ...(shownBody === null ? [] : ['', shownBody]),
    ]);
    return 0;
  }
  const api = await openApi(context, { isOpen });
  showAnswer(output, await api.call(call));
  return 0;
}

function queryOf(context: CommandContext): (readonly [string, string])[] {
  return optionTexts(context, 'query').map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new CommandFailure('usage', `--query is NAME=VALUE, not "${text}".`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
}

async function pathOf({ path }: OperationEntry, { given }: CommandContext): Promise<string> {
  const parts = await Promise.all(operandNames(path).map((name, at) => partOf(name, given.operands[at] ?? '')));
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(parts.shift() ?? ''));
}

async function partOf(name: string, given: string): Promise<string> {
  const part = isSecret(name) ? (await readData(given)).trim() : given;
  if (namesAnotherRoute(part)) throw new CommandFailure('usage', `${name} is empty, or of dots.`);
  return part;
}

/** For errors, progress and a dry run: with `{token}` in place of what gives access. */
function shownPathOf({ path }: OperationEntry, made: string): string {
  const parts = path.split('/');
  const shown = made.split('/').map((part, at) => (isSecret(parts[at]?.slice(1, -1) ?? '') ? (parts[at] ?? '') : part));
  return shown.join('/');
}
