import { type RuleFacts, readRuleFacts } from '../../db/compliance/rule-facts.ts';
import { type ComplianceRule, type LimitsMinor, rulesOf } from '../../domain/compliance/rules.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { ListHits } from './list-hits.tsx';
import type { Review } from './review.ts';

const DAY_MS = 86_400_000;

/** Why the transfer is in review: the rule that stopped it, what it says, and what it found. */
export async function Stop({ context, review }: { readonly context: PageContext; readonly review: Review }) {
  const { complianceRule, complianceResult } = review.transfer;
  if (complianceRule === null) {
    return (
      <section class="card">
        <h2>Why it is in review</h2>
        <p>
          {complianceResult === null
            ? 'No rule has stopped it: every transfer of this direction and currency is decided outside of the service, or its screening has not ended.'
            : `A person has recorded ${complianceResult}, which leaves it in review.`}
        </p>
      </section>
    );
  }
  const { configuration, database } = context.services;
  const rules = rulesOf(configuration.complianceRules, review.direction);
  const rule = rules.find(({ name }) => name === complianceRule.name);
  const windowsMs = rule?.kind === 'velocity' ? [rule.windowMs] : [];
  const facts = await readRuleFacts(database.reader, review, windowsMs);
  return (
    <section class="card">
      <h2>
        Stopped by the rule {complianceRule.name} ({complianceRule.kind})
      </h2>
      {rule === undefined ? (
        <p class="warn">The configuration no longer has this rule; it had when the transfer was screened.</p>
      ) : (
        <>
          <p>
            It demands a {rule.stop}: {findingOf(rule, facts)}
          </p>
          {rule.kind === 'name' ? (
            <ListHits context={context} rule={rule} names={facts.transfer.counterpartyNames} />
          ) : null}
        </>
      )}
    </section>
  );
}

/** What the rule says, and what it finds now. */
function findingOf(rule: ComplianceRule, { transfer, activity }: RuleFacts): string {
  const { currency, amountMinor, counterpartyCountries } = transfer;
  switch (rule.kind) {
    case 'amount':
      return `${amountText(amountMinor, currency)} is not below its limit of ${limitText(rule.fromMinor, currency)}.`;
    case 'velocity': {
      const [found] = activity;
      const days = rule.windowMs / DAY_MS;
      const window = days >= 1 ? `${days} days` : `${rule.windowMs / 3_600_000} hours`;
      const limits = [
        ...(rule.fromCount === null ? [] : [`${rule.fromCount} transfers`]),
        ...(Object.hasOwn(rule.fromSumMinor, currency) ? [limitText(rule.fromSumMinor, currency)] : []),
      ];
      return `with it the account has ${found?.count ?? 0} transfers of ${amountText(found?.sumMinor ?? 0n, currency)} within ${window}; its limits are ${limits.join(' and ')}.`;
    }
    case 'country': {
      const listed = counterpartyCountries.filter((country) => rule.countries.has(country));
      return `the other party’s countries are ${counterpartyCountries.join(', ')}, of which ${listed.join(', ') || 'none now'} is listed.`;
    }
    case 'name':
      return `a name of the other party is similar to a listed one by ${Math.round(rule.threshold * 100)}% or more.`;
  }
}

function limitText(limits: LimitsMinor, currency: string): string {
  const limit = Object.hasOwn(limits, currency) ? limits[currency] : undefined;
  return limit === undefined ? 'none in this currency' : amountText(limit, currency);
}
