import type { Database, Reader } from '../query/database.ts';

/** Digests of the settings that decide about transfers, by setting. */
export type RuleDigests = ReadonlyMap<string, string>;

const PUT = `
  INSERT INTO transfer_rule_settings AS setting (setting, digest, in_force_since)
  SELECT name, digest, service_now() FROM unnest($1::text[], $2::text[]) AS given (name, digest)
  ON CONFLICT (setting) DO UPDATE SET (digest, in_force_since) = ROW (excluded.digest, excluded.in_force_since)
  WHERE setting.digest <> excluded.digest`;

/** Records the settings by which the service decides: those of the process that started last. */
export async function putTransferRulesInForce(
  { reader }: Pick<Database, 'reader'>,
  digests: RuleDigests,
): Promise<void> {
  await reader.statement(PUT, [[...digests.keys()], [...digests.values()]]);
}

const IN_FORCE = `
  SELECT setting AS name, digest, in_force_since AS since FROM transfer_rule_settings
  UNION ALL SELECT 'calendar ' || calendar, digest, in_force_since FROM calendar_editions`;

/** A setting that differs in the service, and since when. */
export interface DifferingRule {
  readonly name: string;
  readonly since: Date;
}

/** Those of these settings and calendars that differ from the service's; a setting that it has never recorded counts as equal. */
export async function findDifferingRules(
  reader: Reader,
  settings: RuleDigests,
  calendars: ReadonlyMap<string, { readonly digest: string }>,
): Promise<readonly DifferingRule[]> {
  const inForce = await reader.statement<DifferingRule & { readonly digest: string }>(IN_FORCE, []);
  const editions = [...calendars].map(([name, { digest }]) => [`calendar ${name}`, digest] as const);
  const given = new Map([...settings, ...editions]);
  const isOther = (name: string, digest: string) => (given.get(name) ?? digest) !== digest;
  return inForce.flatMap(({ name, digest, since }) => (isOther(name, digest) ? { name, since } : []));
}
