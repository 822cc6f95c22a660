import { createHash } from 'node:crypto';
import type { ConfigurationFile } from './schema/schema.ts';

/** What decides about a transfer after its creation: the domain's `TransferRules`. Calendars have digests of their own. */
const SETTINGS = ['schemes', 'calendarByCurrency', 'rollLimit', 'retryLimit', 'retryPauseSeconds'] as const;

/** A digest of each setting, equal in every process with the same settings, however its files are divided and ordered. */
export function transferRuleDigests(
  file: Pick<ConfigurationFile, (typeof SETTINGS)[number]>,
): ReadonlyMap<string, string> {
  return new Map(SETTINGS.map((name) => [name, digestOf(file[name])]));
}

function digestOf(setting: unknown): string {
  return createHash('sha256').update(JSON.stringify(setting, sorted)).digest('hex');
}

/** The order of keys has no meaning; that of a list may. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
