import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { systemErrorCode } from '../common/actionable-error.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import type { OperationEntry } from './operation-entries.ts';

/** The text of `--data`: never from the command line itself, where others could read it. */
export async function readData(given: string): Promise<string> {
  if (given === '-') return text(process.stdin);
  if (!given.startsWith('@')) throw new CommandFailure('usage', 'Give --data as @FILE, or - for standard input.');
  try {
    return readFileSync(given.slice(1), 'utf8');
  } catch (error) {
    const code = systemErrorCode(error) ?? 'unknown';
    throw new CommandFailure('usage', `The file ${given.slice(1)} cannot be read (${code}).`);
  }
}

/**
 * The body of an operation: as given if that has `workflow`, otherwise `data` or the resource in it. The text is put in as it is, so
 * that its amounts keep their digits.
 */
export function bodyOf(
  { code, keys = [], required = [] }: OperationEntry,
  given: string | undefined,
): string | undefined {
  if (code === undefined) return given;
  const workflow = `"workflow":{"code":${JSON.stringify(code)}}`;
  if (given === undefined) return `{${workflow}}`;
  const names = namesIn(given);
  if (names.includes('workflow')) return given;
  if (names.includes('data')) return given.replace('{', `{${workflow},`);
  if (names.length > 0 && names.every((name) => keys.includes(name))) return `{${workflow},"data":${given.trim()}}`;
  const [resource, ...more] = required.length > 0 ? required : keys;
  if (resource !== undefined && more.length === 0) return `{${workflow},"data":{"${resource}":${given.trim()}}}`;
  throw new CommandFailure('usage', `Give ${keys.join(', ')} as the properties of --data.`);
}

/** The names of the object that the text is. */
function namesIn(given: string): string[] {
  const parsed = parsedObject(given);
  if (parsed === null) throw new CommandFailure('usage', '--data is not a JSON object.');
  return Object.keys(parsed);
}

function parsedObject(given: string): object | null {
  try {
    const parsed: unknown = JSON.parse(given);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
