import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Invalid settings; the message has one line for each. */
export class ConfigurationError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigurationError';
  }
}

type Json = Readonly<Record<string, unknown>>;

/** The JSON object of a file. */
export function readJson(path: string): Json {
  const text = readFile(path);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw new ConfigurationError([`${path} is not JSON: ${reason(error)}`]);
  }
  throw new ConfigurationError([`${path} must hold a JSON object`]);
}

export function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError([`${path} cannot be read: ${reason(error)}`]);
  }
}

function reason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 7396: objects merge, null removes (unless null is a legal value), anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null && NULLABLE_SETTINGS.has(key)) merged[key] = null;
    else if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** Settings for which null is a legal value. */
const NULLABLE_SETTINGS = new Set([
  'cutOff',
  'opensAt',
  'accountsNamedBy',
  'bank',
  'requestsPerSecond',
  'modulusCheck',
  'audience',
]);

/** Paths inside a file are relative to it. */
export function resolvePaths(file: Json, path: string): Json {
  const absolute = (section: unknown, names?: readonly string[]): unknown => {
    if (!isObject(section)) return section;
    const paths = (names ?? Object.keys(section)).flatMap((name) => {
      const value = section[name];
      return typeof value === 'string' ? [[name, resolve(dirname(path), value)] as const] : [];
    });
    return { ...section, ...Object.fromEntries(paths) };
  };
  return {
    ...file,
    ...('bankProfiles' in file ? { bankProfiles: absolute(file.bankProfiles) } : {}),
    ...('calendars' in file ? { calendars: absolute(file.calendars) } : {}),
    ...('modulusCheck' in file
      ? { modulusCheck: absolute(file.modulusCheck, ['weightsFile', 'substitutionsFile']) }
      : {}),
    ...('compliance' in file ? { compliance: resolveRules(file.compliance, (rule) => absolute(rule, ['file'])) } : {}),
  };
}

function resolveRules(compliance: unknown, resolveRule: (rule: unknown) => unknown): unknown {
  if (!isObject(compliance) || !Array.isArray(compliance.rules)) return compliance;
  return { ...compliance, rules: compliance.rules.map(resolveRule) };
}
