import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import type { Reader } from '../../db/driver/client.ts';
import { findOtherRules } from '../../db/providers/transfer-rules.ts';
import { RemedyError } from '../frame/remedy.ts';

/**
 * The rules by which a command decides about a transfer, which must be the service's: refuses, before anything is written, where this
 * shell's configuration has other ones.
 */
export async function readServiceRules(reader: Reader): Promise<Configuration> {
  const configuration = loadConfiguration(process.env);
  const { transferRuleDigests, calendars } = configuration;
  const different = await findOtherRules(reader, transferRuleDigests, calendars.editions);
  if (different.length === 0) return configuration;
  const given = process.env.CONFIG_FILE?.trim();
  throw new RemedyError(
    `This command would decide by other settings than the service (${different.join(', ')}). Set CONFIG_FILE to the worker’s; here it is ${given ? given : 'not set'}. If a file has just changed, the service has it after a restart, a calendar after twenty seconds.`,
  );
}
