import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { Scroll } from '../look/scroll.tsx';

export interface Series {
  readonly name: string;
  /** One value per label, null where it is not known; for the height of a line only, never to be shown as an amount. */
  readonly values: readonly (number | null)[];
  /** What the table shows for each value. */
  readonly texts: readonly string[];
}

const WIDTH = 480;
const HEIGHT = 140;
const LEFT = 8;
const BOTTOM = 20;
const TOP = 8;

/** One or two lines over the same labels, drawn by the server, with the table for who cannot see them. */
export function LineChart({
  title,
  labels,
  series,
}: {
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
}) {
  const most = Math.max(1, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const x = scaleLinear([0, Math.max(1, labels.length - 1)], [LEFT, WIDTH - LEFT]);
  const y = scaleLinear([0, most], [HEIGHT - BOTTOM, TOP]);
  const path = line<number | null>(
    (_, index) => x(index),
    (value) => y(value ?? 0),
  ).defined((value) => value !== null);
  return (
    <figure class="card">
      <figcaption>
        <strong>{title}</strong>{' '}
        <span class="quiet">{series.map(({ name }, index) => `${index === 0 ? '—' : '- -'} ${name}`).join(', ')}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}; the table below has the figures`}>
        <line class="axis" x1={LEFT} x2={WIDTH - LEFT} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
        {series.map(({ values }, index) => (
          <path class={index === 0 ? 'first' : 'second'} d={path([...values]) ?? ''} />
        ))}
        {labels.map((label, index) =>
          index % Math.ceil(labels.length / 6) === 0 ? (
            <text x={x(index)} y={HEIGHT - 4} text-anchor={index === 0 ? 'start' : 'middle'}>
              {label}
            </text>
          ) : null,
        )}
      </svg>
      <details>
        <summary>Figures</summary>
        <Scroll label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">Hour</th>
                {series.map(({ name }) => (
                  <th scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, index) => (
                <tr>
                  <th scope="row">{label}</th>
                  {series.map(({ texts }) => (
                    <td class="number">{texts[index] ?? ''}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  );
}
