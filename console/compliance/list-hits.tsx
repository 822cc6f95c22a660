import { setTimeout as pause } from 'node:timers/promises';
import { type FoundName, NameListMissing, NameLists } from '../../activities/compliance/name-lists.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { NameRule } from '../../domain/compliance/rules.ts';
import { Scroll } from '../look/scroll.tsx';
import type { PageContext } from '../page/page.ts';

const HITS_MAX = 20;
/** A list is read when it is first needed, which takes longer than a page may. */
const WAIT_MS_MAX = 100;

/** One set of lists for each configuration of this process. */
const LISTS = new WeakMap<Configuration, NameLists>();

function listsOf({ services: { configuration, logger } }: PageContext): NameLists {
  const known = LISTS.get(configuration);
  if (known !== undefined) return known;
  const lists = new NameLists(configuration.complianceRules, logger);
  LISTS.set(configuration, lists);
  return lists;
}

type Found = readonly FoundName[] | 'being-read' | 'unusable';

async function findHits(context: PageContext, rule: NameRule, names: readonly string[]): Promise<Found> {
  const searched = listsOf(context)
    .findHits(rule, names, HITS_MAX)
    .catch((error: unknown): Found => {
      if (error instanceof NameListMissing) return 'unusable';
      throw error;
    });
  return Promise.race([searched, pause(WAIT_MS_MAX, 'being-read' as const, { ref: false })]);
}

interface Props {
  readonly context: PageContext;
  readonly rule: NameRule;
  /** The other party's names. */
  readonly names: readonly string[];
}

/** Whom of a list the other party is similar to. */
export async function ListHits({ context, rule, names }: Props) {
  const found = await findHits(context, rule, names);
  if (found === 'being-read') return <p>The list is being read: reload this page in a moment.</p>;
  if (found === 'unusable')
    return <p class="warn">The list of this rule cannot be used: the console’s log says why.</p>;
  if (found.length === 0) return <p>No listed name is that similar now: the list has changed since.</p>;
  return (
    <Scroll label={`Hits of ${rule.name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Name of the payment</th>
            <th scope="col">Listed name</th>
            <th scope="col">Listed as</th>
            <th scope="col" class="number">
              Similarity
            </th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ name, listedName, entityId, similarity }) => (
            <tr>
              <td>{context.privacy.name(name)}</td>
              <td>{context.privacy.name(listedName)}</td>
              <td class="id">{entityId}</td>
              <td class="number">{Math.round(similarity * 100)}%</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
