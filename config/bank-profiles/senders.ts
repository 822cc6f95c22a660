import { problemOfParty, REFERENCE_LENGTH_MAX } from '../../domain/bank-files/profile-rules.ts';
import type { BankProfile } from '../../domain/bank-files/profiles.ts';
import type { ConfigurationFile } from '../schema/schema.ts';

/** Why a bank would reject every file of a provider: one sentence for each. */
export function senderProblems(
  providers: ConfigurationFile['providers'],
  profiles: ReadonlyMap<string, BankProfile>,
): string[] {
  return Object.entries(providers).flatMap(([code, { iso20022, offers }]) => {
    const profile = profiles.get(iso20022?.profile ?? '');
    if (iso20022 === undefined || profile === undefined) return [];
    const path = `providers.${code}`;
    const short = profile.lengths.reference < REFERENCE_LENGTH_MAX;
    const references = `${path}.iso20022.profile: ${profile.code} takes references of ${profile.lengths.reference} characters, and ours have up to ${REFERENCE_LENGTH_MAX}`;
    const senders = offers.flatMap(({ schemes, bank }, index) => {
      const pooled = bank?.pooledAccount ?? null;
      if (bank === null || pooled === null) return [];
      const { iban, accountNumber } = pooled;
      const offered = Object.entries(profile.schemes).filter(([scheme]) => schemes.includes(scheme));
      const party = { ...iso20022.party, iban, accountNumber, routingCodes: bank.routingCodes };
      const problem = problemOfParty(party, { ...profile, schemes: Object.fromEntries(offered) });
      if (problem === null) return [];
      const place = ['name', 'id'].includes(problem.field) ? 'iso20022.party' : `offers.${index}.bank.pooledAccount`;
      return [`${path}.${place}.${problem.field}: ${problem.message}`];
    });
    return [...(short ? [references] : []), ...new Set(senders)];
  });
}
