/** A line of a plot. A floor is dashed, in the colour of the curve before it, whose floor it is. */
export interface Curve {
  readonly name: string;
  readonly isFloor: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Plot {
  readonly title: string;
  /** Of the values upwards, such as MiB. */
  readonly unit: string;
  /** What the values to the right count. */
  readonly xLabel: string;
  readonly curves: readonly Curve[];
}

const width = 640;
const height = 400;
const area = { left: 76, right: 612, top: 114, bottom: 340 };
const colours = ['#2563eb', '#b45309', '#0f766e', '#9333ea'];
const axisColour = '#64748b';
const inkColour = '#0f172a';
const gridColour = '#e2e8f0';
const maxTicks = 6;

/** Draws a plot as SVG. It brings its own white ground, so that it is as readable on a dark page as on a light one. */
export function drawPlot({ title, unit, xLabel, curves }: Plot): string {
  const points = curves.flatMap((curve) => curve.points);
  const scales = { x: scaleOf(points.map(({ x }) => x)), y: scaleOf(points.map(({ y }) => y)) };
  const atX = (x: number): number => area.left + (x / scales.x.max) * (area.right - area.left);
  const atY = (y: number): number => area.bottom - (y / scales.y.max) * (area.bottom - area.top);
  const drawn = curves.map((curve, index) => ({ ...curve, colour: colourOf(curves, index) }));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13">
  <title>${escape(title)}</title>
  <rect width="${width}" height="${height}" fill="#ffffff" />
  <text x="20" y="30" font-size="16" font-weight="600" fill="${inkColour}">${escape(title)}</text>
  ${legend(drawn)}
  <g stroke="${gridColour}">
    ${scales.y.ticks.map((tick) => `<path d="M${area.left} ${at(atY(tick))}H${area.right}" />`).join('\n    ')}
  </g>
  <path d="M${area.left} ${area.top}V${area.bottom}H${area.right}" fill="none" stroke="${axisColour}" />
  <g fill="${inkColour}">
    <text x="${area.left}" y="${area.top - 12}" text-anchor="middle">${escape(unit)}</text>
    <text x="${(area.left + area.right) / 2}" y="${area.bottom + 44}" text-anchor="middle">${escape(xLabel)}</text>
    ${scales.y.ticks.map((tick) => `<text x="${area.left - 8}" y="${at(atY(tick) + 4)}" text-anchor="end">${shown(tick)}</text>`).join('\n    ')}
    ${scales.x.ticks.map((tick) => `<text x="${at(atX(tick))}" y="${area.bottom + 20}" text-anchor="middle">${shown(tick)}</text>`).join('\n    ')}
  </g>
  ${drawn.map((curve) => line(curve, atX, atY)).join('\n  ')}
</svg>
`;
}

function line({ isFloor, colour, points }: Curve & Coloured, atX: Place, atY: Place): string {
  const path = points.map(({ x, y }) => `${at(atX(x))} ${at(atY(y))}`).join('L');
  const dots = points.map(({ x, y }) => `<circle cx="${at(atX(x))}" cy="${at(atY(y))}" r="3.5" />`).join('');
  return `<g fill="${colour}"><path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes(isFloor)} />${dots}</g>`;
}

function legend(curves: readonly (Curve & Coloured)[]): string {
  let [left, y] = [20, 52];
  const entries = curves.map(({ name, isFloor, colour }) => {
    const entryWidth = 54 + name.length * 7;
    if (left + entryWidth > width) [left, y] = [20, y + 20];
    const entry =
      `<path d="M${left} ${y}h24" stroke="${colour}" stroke-width="2"${dashes(isFloor)} />` +
      `<text x="${left + 30}" y="${y + 4}" fill="${inkColour}">${escape(name)}</text>`;
    left += entryWidth;
    return entry;
  });
  return entries.join('\n  ');
}

interface Coloured {
  readonly colour: string;
}
type Place = (value: number) => number;

function colourOf(curves: readonly Curve[], index: number): string {
  const before = curves.slice(0, index + 1).filter(({ isFloor }) => !isFloor);
  return colours[(before.length - 1) % colours.length] ?? inkColour;
}

function dashes(isFloor: boolean): string {
  return isFloor ? ' stroke-dasharray="6 4"' : '';
}

/** Round numbers from zero on, the last of which is the largest value at least. */
export function scaleOf(values: readonly number[]): { readonly max: number; readonly ticks: readonly number[] } {
  const largest = Math.max(...values, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(largest / maxTicks));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => Math.ceil(largest / each) <= maxTicks);
  if (step === undefined) throw new Error(`no scale goes to ${largest}`);
  const ticks = Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  );
  return { max: ticks.at(-1) ?? step, ticks };
}

function at(place: number): string {
  return String(Math.round(place * 10) / 10);
}

function shown(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
