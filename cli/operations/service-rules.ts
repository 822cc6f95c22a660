import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { findDifferingRules } from '../../db/providers/transfer-rules.ts';
import type { Reader } from '../../db/query/database.ts';
import { ActionableError } from '../common/actionable-error.ts';

/**
 * The rules by which a command decides about a transfer. They must be the service's: rejects, before anything is written, if this
 * shell's configuration differs.
 */
export async function readServiceRules(reader: Reader): Promise<Configuration> {
  const configuration = loadConfiguration(process.env);
  const { transferRuleDigests, calendars } = configuration;
  const different = await findDifferingRules(reader, transferRuleDigests, calendars.editions);
  if (different.length === 0) return configuration;
  const given = process.env.CONFIG_FILE?.trim();
  const listed = different.map(({ name, since }) => `${name}, in force since ${since.toISOString()}`).join('; ');
  throw new ActionableError(
    `This command would decide by other settings than the service (${listed}). Set CONFIG_FILE to the worker’s; here it is ${given ? given : 'not set'}. If it is the worker’s already, the process that started last had another one: restart it, or any that runs loops. A calendar is in force twenty seconds after its file has changed.`,
  );
}
