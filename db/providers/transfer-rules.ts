import type { Database, Reader } from '../driver/client.ts';

/** Digests of the settings that decide about transfers, by setting. */
export type RuleDigests = ReadonlyMap<string, string>;

const PUT = `
  INSERT INTO transfer_rule_settings AS setting (setting, digest, in_force_since)
  SELECT name, digest, service_now() FROM unnest($1::text[], $2::text[]) AS given (name, digest)
  ON CONFLICT (setting) DO UPDATE SET (digest, in_force_since) = ROW (excluded.digest, excluded.in_force_since)
  WHERE setting.digest <> excluded.digest`;

/** Records by which settings the service decides: those of the process that started last. */
export async function putTransferRulesInForce(
  { reader }: Pick<Database, 'reader'>,
  digests: RuleDigests,
): Promise<void> {
  await reader.statement(PUT, [[...digests.keys()], [...digests.values()]]);
}

const IN_FORCE = `
  SELECT setting AS name, digest FROM transfer_rule_settings
  UNION ALL SELECT 'calendar ' || calendar, digest FROM calendar_editions`;

/** Which of these settings and calendars the service has other than given; what it has never recorded is equal. */
export async function findOtherRules(
  reader: Reader,
  settings: RuleDigests,
  calendars: ReadonlyMap<string, { readonly digest: string }>,
): Promise<readonly string[]> {
  const rows = await reader.statement<{ name: string; digest: string }>(IN_FORCE, []);
  const inForce = new Map(rows.map(({ name, digest }) => [name, digest]));
  const given = [...settings, ...[...calendars].map(([name, { digest }]) => [`calendar ${name}`, digest] as const)];
  return given.flatMap(([name, digest]) => ((inForce.get(name) ?? digest) === digest ? [] : [name]));
}
