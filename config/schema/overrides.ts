import { COMPLIANCE_MODES, parseAuthorizationRule } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { ConfigurationError, mergePatch } from '../files.ts';

/**
 * `AUDIENCE` overrides the file; `COMPLIANCE_INCOMING`, `COMPLIANCE_OUTGOING` and `AUTHORIZATION_RULE` override its
 * general rule.
 */
export function withOverrides(file: unknown, env: NodeJS.ProcessEnv): unknown {
  const patch: Record<string, unknown> = {};
  const audience = env.AUDIENCE?.trim();
  if (audience) patch.audience = audience;
  const compliance: Record<string, unknown> = {};
  const modes = { incoming: env.COMPLIANCE_INCOMING, outgoing: env.COMPLIANCE_OUTGOING };
  for (const [direction, given] of Object.entries(modes)) {
    const name = `COMPLIANCE_${direction.toUpperCase()}`;
    const mode = given?.trim();
    if (!mode) continue;
    if (!COMPLIANCE_MODES.some((known) => known === mode)) {
      throw new ConfigurationError([`${name} must be one of ${COMPLIANCE_MODES.join(', ')} (is "${mode}")`]);
    }
    compliance[direction] = { mode };
  }
  if (Object.keys(compliance).length > 0) patch.compliance = compliance;
  const rule = env.AUTHORIZATION_RULE?.trim();
  if (rule) {
    if (parseAuthorizationRule(rule) === null) {
      throw new ConfigurationError([
        `AUTHORIZATION_RULE must be never, always or an amount such as 1000 (is "${rule}")`,
      ]);
    }
    patch.authorization = { rule };
  }
  return mergePatch(file, patch);
}
