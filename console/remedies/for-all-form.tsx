import type { PageContext } from '../page/page.ts';
import type { Remedy } from './remedy.ts';
import { offReason } from './remedy-pages.tsx';

/** Above a list: choose what is to be done for all that its filter finds. What would happen is shown next, before anything does. */
export function ForAllForm({
  context,
  remedies,
  action,
  filter,
}: {
  readonly context: PageContext;
  readonly remedies: readonly Remedy[];
  /** The address of the remedy that freezes the list. */
  readonly action: string;
  readonly filter: Readonly<Record<string, string>>;
}) {
  const offered = remedies.filter((remedy) => remedy.forEach !== undefined && offReason(remedy, context) === null);
  if (offered.length === 0) return null;
  return (
    <form class="filters" method="get" action={action}>
      {Object.entries(filter).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <label>
        <span>For all that are found</span>
        <select name="remedy" required>
          <option value="">choose</option>
          {offered.map((remedy) => (
            <option value={remedy.kind}>
              {remedy.label} ({remedy.resource.replaceAll('-', ' ')}s)
            </option>
          ))}
        </select>
      </label>
      <button type="submit">See what would happen</button>
    </form>
  );
}
