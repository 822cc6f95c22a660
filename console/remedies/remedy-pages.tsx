import type { Child } from 'hono/jsx';
import { REASON_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import type { ConsoleServices } from '../http/services.ts';
import { addressAt, hasRole, type PageContext } from '../page/page.ts';
import type { Preview, Remedy, RemedyField } from './remedy.ts';

/** Why this person cannot use the remedy in this installation; null if it can be used. */
export function offReason({ kind, roles }: Remedy, { services, person }: Pick<PageContext, 'services' | 'person'>) {
  if (isOff(kind, services.settings)) return 'Turned off in this installation.';
  if (!hasRole(person, roles)) return `For the role ${roles.join(' or ')}.`;
  return null;
}

/** Whether a kind of remedy is turned off in this installation. */
export function isOff(kind: string, { remediesOff }: ConsoleServices['settings']): boolean {
  return remediesOff === 'all' || remediesOff.includes(kind);
}

/** A remedy's address for the resource that the context's page shows. */
export function addressOf({ page, kind }: Remedy, params: Readonly<Record<string, string>>): string {
  return `${page === '/' ? '' : addressAt(page, params)}/${kind}`;
}

type Asked = Pick<PageContext, 'params' | 'query'>;

/** The address that was asked for: a remedy for all that a filter finds keeps the filter. */
export function askedAddressOf(remedy: Remedy, { params, query }: Asked): string {
  return withQuery(addressOf(remedy, params), query);
}

/** The page that the remedy belongs to, with the filter under which it was chosen. */
export function pageBehind({ page }: Remedy, { params, query }: Asked): string {
  return withQuery(addressAt(page, params), query);
}

function withQuery(address: string, query: URLSearchParams): string {
  return query.size === 0 ? address : `${address}?${query}`;
}

/** The buttons of a resource's remedies. One that is off says why. */
export async function actionsOf(context: PageContext, remedies: readonly Remedy[]): Promise<Child> {
  const shown = await Promise.all(
    remedies.map(async (remedy) => {
      const off = offReason(remedy, context);
      // What the person cannot do anyway is not looked into.
      return { remedy, off: off ?? (await remedy.preview(context))?.unavailable ?? null };
    }),
  );
  const possible = shown.filter(({ off }) => off === null);
  const impossible = shown.filter(({ off }) => off !== null);
  return (
    <>
      {possible.length === 0 ? null : (
        <ul class="actions" aria-label="Remedies">
          {possible.map(({ remedy }) => (
            <li>
              <a
                class={remedy.isDangerous === true ? 'button danger' : 'button'}
                href={addressOf(remedy, context.params)}
              >
                {remedy.label}
              </a>
            </li>
          ))}
        </ul>
      )}
      {impossible.length === 0 ? null : (
        <ul class="off" aria-label="Not possible now">
          {impossible.map(({ remedy, off }) => (
            <li>
              <strong>{remedy.label}</strong> is off: {off}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface FormProps {
  readonly remedy: Remedy;
  readonly preview: Preview;
  readonly context: PageContext;
  /** What was wrong with the last attempt. */
  readonly problem: string | null;
  readonly given: Readonly<Record<string, string>>;
}

/** What will happen, in numbers, before it does; the reason; the button. */
export function RemedyForm({ remedy, preview, context, problem, given }: FormProps) {
  const { person } = context;
  const fields = [...(remedy.fields ?? []), ...(preview.fields ?? [])];
  const hasFile = fields.some(({ kind }) => kind === 'file');
  const back = pageBehind(remedy, context);
  return (
    <section class="card">
      {problem === null ? null : (
        <p class="notice problem" role="alert" id="problem">
          <strong>Not done.</strong> {problem}
        </p>
      )}
      <h2>What will happen</h2>
      <ul>
        {preview.consequences.map((sentence) => (
          <li>{sentence}</li>
        ))}
      </ul>
      {preview.unavailable === undefined ? (
        <form
          method="post"
          action={askedAddressOf(remedy, context)}
          {...(hasFile ? { enctype: 'multipart/form-data' } : {})}
        >
          <input type="hidden" name="csrf" value={person.csrfToken} />
          {fields.map((field) => (
            <FieldInput field={field} value={given[field.name] ?? field.initial ?? ''} />
          ))}
          <label>
            <span>Reason, for the audit log</span>
            <input
              class="wide"
              type="text"
              name="reason"
              value={given.reason ?? ''}
              maxlength={REASON_LENGTH_MAX}
              required
              {...(problem === null ? {} : { 'aria-describedby': 'problem' })}
            />
          </label>
          <p>
            <button type="submit" class={remedy.isDangerous === true ? 'danger' : 'main'}>
              {remedy.label}
            </button>{' '}
            <a href={back}>Leave it as it is</a>
          </p>
        </form>
      ) : (
        <p class="notice unchanged">
          {preview.unavailable} <a href={back}>Back</a>
        </p>
      )}
    </section>
  );
}

function FieldInput({ field, value }: { readonly field: RemedyField; readonly value: string }) {
  const { name, label, hint, isOptional } = field;
  const required = isOptional !== true;
  return (
    <label>
      <span>{label}</span>
      {hint === undefined ? null : <span class="quiet">{hint}</span>}
      <Control field={field} name={name} value={value} required={required} />
    </label>
  );
}

function Control({
  field,
  name,
  value,
  required,
}: {
  readonly field: RemedyField;
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
}) {
  switch (field.kind) {
    case 'choice':
      return (
        <select name={name} required={required}>
          <option value="">choose</option>
          {(field.choices ?? []).map(([choice, text]) => (
            <option value={choice} selected={choice === value}>
              {text}
            </option>
          ))}
        </select>
      );
    case 'file':
      return <input type="file" name={name} required={required} />;
    case 'long-text':
      return (
        <textarea name={name} rows={6} required={required}>
          {value}
        </textarea>
      );
    case 'date-time':
      return <input type="datetime-local" name={name} value={value} step="1" required={required} />;
    case 'text':
      return <input class="wide" type="text" name={name} value={value} required={required} />;
  }
}
